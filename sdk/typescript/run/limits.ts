/**
 * What the server takes (docs/limits.md), as far as the client sees to it: what is over a limit is cut, split or
 * left out before it is spooled, so that one bad value never makes the server refuse others. A test holds these
 * numbers against the server's own.
 */
export const limits = {
  messageBytesMax: 32 << 20,
  seriesPerRunMax: 1_000_000,
  keyBytesMax: 512,
  labelsMax: 16,
  labelBytesMax: 128,
  textValueBytesMax: 64 << 10,
  envelopeLinesMax: 1_000,
  logLineBytesMax: 64 << 10,
  logStreamBytesMax: 64,
  envelopeArtifactsMax: 1_000,
  envelopeContentBytesMax: 4 << 20,
  paramsPerRunMax: 10_000,
  paramValueBytesMax: 64 << 10,
  paramNestingMax: 32,
  tagsPerRunMax: 1_000,
  tagValueBytesMax: 8 << 10,
  nameBytesMax: 512,
  notesBytesMax: 1 << 20,
  aliasBytesMax: 1_024,
  namespaceDepthMax: 16,
  namespacePathBytesMax: 512,
  sourceBytesMax: 1_024,
  artifactNameBytesMax: 1_024,
  artifactNameDepthMax: 32,
  artifactInlineBytesMax: 256 << 10,
  artifactMetadataBytesMax: 64 << 10,
  artifactUriBytesMax: 8 << 10,
} as const;

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
