/** Limits of this client alone. */
export const clientLimits = {
  /** As many points in memory make it write to the spool. */
  collectPointsMax: 1_000,
  /** And this much time. */
  collectMs: 1_000,
  /** And this many bytes of text, params and content. */
  collectBytesMax: 2 << 20,
  /** Levels of a nested object of metrics. */
  valueDepthMax: 8,
  /** Series whose columns are kept between two calls. */
  hotSeriesMax: 10_000,
  /** Different notices that are shown. */
  noticesMax: 100,
} as const;
