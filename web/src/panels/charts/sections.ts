import { compareNames } from "#lang/words/names.ts";

/** Keys with the same prefix, shown under one title. */
export interface Section {
  /** Up to the first "/"; empty for keys without one. */
  readonly name: string;
  readonly keys: readonly string[];
}

const SYSTEM = "system";

/** Sections by name, those without a prefix first, system metrics last; keys by name with numbers as numbers. */
export function sectionsOf(keys: Iterable<string>): Section[] {
  const sections = new Map<string, string[]>();
  for (const key of keys) {
    const slash = key.indexOf("/");
    const name = slash < 0 ? "" : key.slice(0, slash);
    const list = sections.get(name);
    if (list === undefined) sections.set(name, [key]);
    else list.push(key);
  }
  return [...sections]
    .map(([name, list]) => ({ name, keys: list.sort(compareNames) }))
    .sort((a, b) => rank(a.name) - rank(b.name) || compareNames(a.name, b.name));
}

function rank(name: string): number {
  if (name === "") return 0;
  return name === SYSTEM || name === "sys" ? 2 : 1;
}

export type Row =
  | { readonly kind: "title"; readonly section: Section; readonly isFolded: boolean }
  | { readonly kind: "charts"; readonly keys: readonly string[] };

/** So few charts need no titles, and fill their rows better. */
const UNTITLED_MAX = 6;

/** Titles and rows of charts, top to bottom. A few charts are shown together without titles. */
export function rowsOf(sections: readonly Section[], columns: number, folded: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const count = sections.reduce((sum, { keys }) => sum + keys.length, 0);
  const titled = count > UNTITLED_MAX && (sections.length > 1 || sections[0]?.name !== "");
  const shown = titled ? sections : [{ name: "", keys: sections.flatMap(({ keys }) => keys) }];
  for (const section of shown) {
    const isFolded = folded.has(section.name);
    if (titled) rows.push({ kind: "title", section, isFolded });
    if (titled && isFolded) continue;
    for (let i = 0; i < section.keys.length; i += columns)
      rows.push({ kind: "charts", keys: section.keys.slice(i, i + columns) });
  }
  return rows;
}
