const { compare } = new Intl.Collator("en", { numeric: true });

/** Natural order of names: digits as numbers, so that group2 comes before group10. */
export function compareNames(a: string, b: string): number {
  return compare(a, b) || (a < b ? -1 : Number(a > b));
}
