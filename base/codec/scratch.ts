/** The most points a chunk holds; its count has 16 bits. */
export const CHUNK_POINTS_MAX = 65_535;

/**
 * Room for two columns of words while one column of values is encoded or decoded. Encoding and decoding never wait, so
 * no other code can use them meanwhile.
 */
export const wordScratch: readonly [Int32Array, Int32Array] = [
  new Int32Array(CHUNK_POINTS_MAX),
  new Int32Array(CHUNK_POINTS_MAX),
];

/** The first of them seen as floats. */
export const floatScratch = new Float32Array(wordScratch[0].buffer);

/** Room for one column of integers held in doubles. */
export const integerScratch = new Float64Array(CHUNK_POINTS_MAX);
