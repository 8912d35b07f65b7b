/** The longest deadline a caller may set; a longer one is refused. */
export const TIMEOUT_MS_MAX = 24 * 60 * 60 * 1000;
