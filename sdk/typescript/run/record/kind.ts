/** As cairn.v1.SeriesKind numbers them. */
export const KIND = { number: 1, integer: 2, bool: 3, text: 4 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];
