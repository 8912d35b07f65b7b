/**
 * Points of one series in columns of equal length, in the order they arrived. Steps are integers
 * of at most 2^53, times integer microseconds UTC of at most 2^53; either column may be missing as
 * a whole. `nanos` (0 to 999, beyond the microseconds) is there only when one is not 0.
 */
export interface Points {
  readonly count: number;
  readonly steps: Float64Array | undefined;
  readonly times: Float64Array | undefined;
  readonly nanos: Uint16Array | undefined;
  readonly values: Values;
}

/** Bools are bytes of 0 and 1. */
export type Values =
  | { readonly kind: "number"; readonly data: Float64Array }
  | { readonly kind: "integer"; readonly data: BigInt64Array }
  | { readonly kind: "bool"; readonly data: Uint8Array }
  | { readonly kind: "text"; readonly data: readonly string[] };
