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
  /** Also of a host. */
  seriesPerRunMax: 1_000_000,
  hostsPerNamespaceMax: 100_000,
  hostNameBytesMax: 255,
  keyBytesMax: 512,
  labelsMax: 16,
  labelBytesMax: 128,
  textValueBytesMax: 64 << 10,
  envelopeLinesMax: 1_000,
  logLineBytesMax: 64 << 10,
  logStreamBytesMax: 64,
  envelopeArtifactsMax: 1_000,
  /** Of all artifacts of an envelope together. */
  envelopeContentBytesMax: 4 << 20,
  /** Envelopes that are written in one call, and points of all of them together. */
  callEnvelopesMax: 1_000,
  callPointsMax: 500_000,
  /** How long, and of how many, the bodies that a run took are known where repeated ones are dropped. */
  repeatMs: 600_000,
  repeatsPerRunMax: 10_000,
  /** Refused envelopes that the summary of a call names. */
  writeReasonsMax: 10,

  paramsPerRunMax: 10_000,
  paramValueBytesMax: 64 << 10,
  paramNestingMax: 32,
  /** Keys and values together. */
  paramsBytesPerRunMax: 16 << 20,
  tagsPerRunMax: 1_000,
  tagValueBytesMax: 8 << 10,
  nameBytesMax: 512,
  notesBytesMax: 1 << 20,
  /** Params, tags, notes and provenance of a run that are loaded without waiting for a slot. */
  lightRunBytesMax: 64 << 10,
  /** Merged from several writers it may be twice as large. */
  provenanceBytesMax: 8 << 20,
  /** References to training data, and to test data. */
  provenanceListMax: 1_000,
  /** A reference, and every other text but words of the command, the patch and the environment. */
  provenanceTextBytesMax: 8 << 10,
  aliasesPerRunMax: 100,
  aliasBytesMax: 1_024,
  writerBytesMax: 256,

  /** Namespaces of one request for objectives. */
  objectivesMax: 1_000,
  comparedRunsMax: 100,
  /** Of all runs that are compared together: params, tags, notes and provenance. */
  comparedBytesMax: 64 << 20,
  comparedPatchLinesMax: 2_000,
  /** Of all runs that are compared together; and rows of metrics in the answer. */
  comparedSeriesMax: 1_000_000,
  comparedMetricsMax: 10_000,
  fieldsDefault: 1_000,
  fieldValuesMax: 50,
  /** Longer texts are not listed among the values of a field. */
  fieldValueBytesMax: 200,
  importanceParamsMax: 1_000,
  /** Params times runs. */
  importanceValuesMax: 200_000_000,
  /** Names of params that are constant or rare. */
  importanceNamesMax: 1_000,
  frontierGoalsMax: 5,
  frontierRunsMax: 10_000,
  namespaceDepthMax: 16,
  namespacePathBytesMax: 512,
  descriptionBytesMax: 64 << 10,
  /** Keys and values together, of one namespace: its answers are not made in parts, as those of runs are. */
  namespaceTagsBytesMax: 1 << 20,

  pageSizeDefault: 100,
  pageSizeMax: 10_000,
  /** Of the rows of one page, which ends early; a single row may be larger. */
  pageBytesMax: 16 << 20,
  /** Of runs that are read for one page, including parts of them that were not requested. */
  searchReadBytesMax: 128 << 20,
  searchOffsetMax: 10_000_000,
  queryBytesMax: 16 << 10,
  queryDepthMax: 64,
  queryListMax: 1_000,
  /** Terms, values and orders of a query that is given as a tree; no text has as many. */
  queryNodesMax: 10_000,
  patternBytesMax: 1 << 10,
  patternCostMax: 5_000,
  /** For all patterns of one search together. */
  patternMsMax: 250,
  readSeriesMax: 10_000,
  readPointsMax: 5_000_000,
  /** Of one answer with points: with columns as bytes, and as text (lists of numbers, or JSON). */
  readBytesMax: 160 << 20,
  readTextBytesMax: 32 << 20,
  matchersMax: 16,
  /** Runs, or hosts, whose series are selected together; and series, runs and hosts that are examined for one page. */
  selectRunsMax: 1_000,
  selectLookMax: 200_000,
  /** Series that the matchers of one read look at. */
  readLookMax: 1_000_000,
  /** Runs whose keys are listed together; and the series that are examined for them. */
  keyRunsMax: 1_000,
  keySeriesPerRunMax: 50_000,
  keySeriesMax: 500_000,
  bucketsMax: 20_000,
  logLinesDefault: 1_000,
  logLinesMax: 10_000,
  /** Of the text in one answer; a single line may be larger. */
  logReadBytesMax: 4 << 20,
  /** Size of a compiled pattern: with a line of 64 KiB it takes a quarter of a second at worst. */
  logPatternSizeMax: 250,

  /** Of what a run was made from: an id of anything. */
  sourceBytesMax: 1_024,
  sourcesPerRunMax: 10_000,
  lineageDepthDefault: 5,
  lineageDepthMax: 100,
  lineageNodesMax: 10_000,
  lineageEdgesMax: 50_000,
  /** Of links that are examined together. */
  lineageLinksBytesMax: 64 << 20,
  /** Of each run in a lineage, besides those that links name. */
  lineageModelsMax: 100,
  /** In one lineage. */
  lineageArtifactsMax: 5_000,

  groupsMax: 1_000,
  /** In all groups of one read together. */
  groupRunsMax: 10_000,
  groupColumnsMax: 20,
  groupBucketsDefault: 200,
  groupQuantilesMax: 20,
  /** Means held for one group (runs by buckets), and numbers in one answer. */
  groupNumbersMax: 10_000_000,
  /** Label sets of the metric, in all runs together. */
  groupSeriesMax: 250_000,

  artifactNameBytesMax: 1_024,
  artifactNameDepthMax: 32,
  artifactsPerRunMax: 1_000_000,
  artifactInlineBytesMax: 256 << 10,
  artifactMetadataBytesMax: 64 << 10,
  artifactUriBytesMax: 8 << 10,
  mediaTypeBytesMax: 255,
  uploadsPerPrincipalMax: 1_000,
  uploadsMax: 10_000,
  uploadExpiryMs: 24 * 3_600_000,
  /** How long an artifact that was replaced or deleted is kept. */
  replacedDays: 7,
  /** Versions of one artifact that are kept, the newest; of those a principal overwrote itself only the last. */
  replacedPerArtifactMax: 20,
  replacedPerRunMax: 10_000,
  /** Of the content of all of them; a single larger one is not kept. */
  replacedBytesPerRunMax: 100 * 2 ** 30,

  principalsMax: 10_000,
  principalNameBytesMax: 128,
  membersPerGroupMax: 1_000,
  groupsPerPrincipalMax: 100,
  bindingsMax: 100_000,
  closedScopesMax: 10_000,
  tokensMax: 100_000,
  tokensPerPrincipalMax: 1_000,
  tokenNamespacesMax: 100,
  tokenDaysDefault: 90,
  tokenDaysMax: 3_650,
  /** Of a token that is made with a password, or with the first administrator's token. */
  passwordTokenDaysMax: 366,
  firstTokenDays: 7,
  /** Made with one token, with those made with these; and where that token has bounds. */
  tokenFamilyMax: 500,
  boundedTokenFamilyMax: 20,
  /** Of the tokens of one principal: those made with tokens, and those of logins, of which the oldest ends. */
  childTokensPerPrincipalMax: 500,
  loginsPerPrincipalMax: 50,
  /** Of the token that a password is exchanged for. */
  loginHours: 12,
  passwordCharactersMin: 8,
  passwordBytesMax: 1_024,

  watchSeriesMax: 1_000,
  watchLogsMax: 1_000,
  /** Positions of reads that one watch begins at. */
  watchSinceMax: 100,
  watchersMax: 10_000,
  /** Of all watchers together: runs whose series or logs they watch. */
  watchedRunsMax: 200_000,

  streamsPerConnectionMax: 256,

  /** Principals, and apart from them addresses, whose use is remembered at once. */
  accountsMax: 10_000,
  /** Of all request bodies that are held in memory at once, and of all answers. */
  bodiesBytesMax: 512 << 20,
  answersBytesMax: 256 << 20,
  /** Of either, what one principal may hold. */
  principalShareMax: 0.5,
  /** Expensive reads that are worked on at once, of one principal and of all; and those of one that wait. */
  workPerPrincipalMax: 6,
  workMax: 24,
  workWaitingPerPrincipalMax: 1_000,
  /** What has been taken in and waits for the storage. */
  backlogEnvelopesMax: 20_000,
  backlogBytesMax: 64 << 20,
} as const;
