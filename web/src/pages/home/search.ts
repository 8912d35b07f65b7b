/** The parameters of the address of the home page; invalid ones are ignored. */
export interface HomeSearch {
  /** Only runs that the user created. */
  mine?: true;
}

export function readHomeSearch(given: Record<string, unknown>): HomeSearch {
  const { mine } = given;
  return mine === true || mine === "true" ? { mine: true } : {};
}
