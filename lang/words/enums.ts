/** The name of a value of a generated enum, as people say it: RunStatus.RUNNING is "running". */
export function wordOf(names: Readonly<Record<string, number>>, value: number): string {
  for (const [name, number] of Object.entries(names)) {
    if (number === value) return name.toLowerCase().replaceAll("_", " ");
  }
  return String(value);
}

/** The other way round, without regard to case; undefined for a word that is none of them. UNSPECIFIED has no word. */
export function valueOf<T extends number>(names: Readonly<Record<string, T>>, word: string): T | undefined {
  const name = word.toUpperCase().replaceAll(/[ -]/g, "_");
  return name === "UNSPECIFIED" || !Object.hasOwn(names, name) ? undefined : names[name];
}
