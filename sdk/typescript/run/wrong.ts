/** For options that are an error of the program. */
export function wrong(name: string, value: unknown, cause: string): TypeError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 200)) : String(value);
  return new TypeError(`cannot use ${name} ${shown}: ${cause}`);
}
