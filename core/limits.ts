/**
 * Every limit on what may come in, in one place. Wires enforce those on bytes, core those on
 * content. They are defaults of the product, described in docs/limits.md.
 */
export const limits = {
  messageBytesMax: 32 << 20,
  decompressedBytesMax: 128 << 20,
  decompressedRatioMax: 200,
  /** Of one request: what it costs in memory is not in its bytes alone. */
  messageObjectsMax: 250_000,
  messageValuesMax: 2_000_000,
  messageNestingMax: 64,

  envelopePointsMax: 100_000,
  envelopeSeriesMax: 100_000,
  envelopeLostRangesMax: 1_000,
  seriesPerRunMax: 1_000_000,
  keyBytesMax: 512,
  labelsMax: 16,
  labelBytesMax: 128,
  textValueBytesMax: 64 << 10,

  paramsPerRunMax: 10_000,
  paramValueBytesMax: 64 << 10,
  paramNestingMax: 32,
  tagsPerRunMax: 1_000,
  tagValueBytesMax: 8 << 10,
  nameBytesMax: 512,
  notesBytesMax: 1 << 20,
  provenanceBytesMax: 8 << 20,
  aliasesPerRunMax: 100,
  aliasBytesMax: 1_024,
  writerBytesMax: 256,

  namespaceDepthMax: 16,
  namespacePathBytesMax: 512,
  descriptionBytesMax: 64 << 10,

  pageSizeDefault: 100,
  pageSizeMax: 10_000,
  queryBytesMax: 16 << 10,
  queryDepthMax: 64,
  queryListMax: 1_000,
  patternBytesMax: 1 << 10,
  patternCostMax: 5_000,
  readSeriesMax: 10_000,
  readPointsMax: 5_000_000,
  bucketsMax: 20_000,

  streamsPerConnectionMax: 256,
} as const;
