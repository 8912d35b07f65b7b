/** The name of a value of a generated enum, as people say it: RunStatus.RUNNING is "running". */
export function wordOf(names: Readonly<Record<string, number>>, value: number): string {
  for (const [name, number] of Object.entries(names)) {
    if (number === value) return name.toLowerCase().replaceAll("_", " ");
  }
  return String(value);
}
