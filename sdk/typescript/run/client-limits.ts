/** Limits of this client alone. */
export const clientLimits = {
  /** As many points in memory make it write to the spool. */
  collectPointsMax: 1_000,
  /** And so much time. */
  collectMs: 1_000,
  /** And so many bytes of text, params and content. */
  collectBytesMax: 2 << 20,
  /** Levels of a nested object of metrics. */
  valueDepthMax: 8,
  /** Series whose columns are kept between two calls. */
  hotSeriesMax: 10_000,
  /** Different complaints that are told. */
  noticesMax: 100,
} as const;
