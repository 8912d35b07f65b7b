/** Above one of these limits a text of a user is shown as plain text. Documented in docs/limits.md, too. */
export const TEXT_LENGTH_MAX = 256 << 10;
export const ELEMENTS_MAX = 10_000;
export const NESTING_MAX = 100;
/** Those of a picture, copies of elements counted again. */
export const SVG_ELEMENTS_MAX = 20_000;
/** Measured from when the thread has received the text. */
export const PREPARE_MS_MAX = 2_000;
/** For the thread to start at all. */
export const START_MS_MAX = 10_000;
