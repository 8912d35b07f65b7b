/** The name of a value of a generated enum, in lower case: RunStatus.RUNNING is "running". */
export function wordOf(names: Readonly<Record<string, number>>, value: number): string {
  for (const [name, number] of Object.entries(names)) {
    if (number === value) return name.toLowerCase().replaceAll("_", " ");
  }
  return String(value);
}

/** The value of a name, ignoring case; undefined for an unknown name. UNSPECIFIED has no name. */
export function valueOf<T extends number>(names: Readonly<Record<string, T>>, word: string): T | undefined {
  const name = word.toUpperCase().replaceAll(/[ -]/g, "_");
  return name === "UNSPECIFIED" || !Object.hasOwn(names, name) ? undefined : names[name];
}
