import { printField } from "#lang/query/field-text.ts";
import { escapeLike, quoteText } from "#lang/query/quote.ts";
import type { Namespace } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { readShortId } from "../data/runs/short-id.ts";

/** A result of the search. */
export type PaletteEntry =
  | { kind: "page"; title: string; to: "/" | "/about" | "/access" | "/explore" | "/n" }
  | { kind: "namespace"; title: string; path: string; runCount: number }
  | { kind: "run"; title: string; run: Run }
  | { kind: "metric"; title: string; query: string; runCount: number };

const PAGES: readonly PaletteEntry[] = [
  { kind: "page", title: "Home", to: "/" },
  { kind: "page", title: "All runs", to: "/n" },
  { kind: "page", title: "Explore all runs", to: "/explore" },
  { kind: "page", title: "About this server", to: "/about" },
  { kind: "page", title: "Access and tokens", to: "/access" },
];
const NAMESPACES_MAX = 6;

/** How well a text fits what was typed: lower is better, undefined not at all. */
export function fitOf(text: string, typed: string): number | undefined {
  const at = text.toLowerCase().indexOf(typed.toLowerCase());
  if (at < 0) return undefined;
  if (text.length === typed.length) return 0;
  if (at === 0) return 1;
  // Users type the beginning of a word.
  return /[\s/_.:-]/.test(text[at - 1]!) ? 2 : 3;
}

function best<T>(all: readonly T[], textOf: (one: T) => string, typed: string, countMax: number): T[] {
  return all
    .map((one) => ({ one, text: textOf(one), fit: fitOf(textOf(one), typed) }))
    .filter(({ fit }) => fit !== undefined)
    .toSorted((a, b) => a.fit! - b.fit! || a.text.length - b.text.length)
    .slice(0, countMax)
    .map(({ one }) => one);
}

/** Results without a call: pages, and the loaded tree of namespaces. */
export function localEntries(typed: string, namespaces: readonly Namespace[]): PaletteEntry[] {
  const text = typed.trim();
  if (text === "") return [...PAGES];
  return [
    ...best(PAGES, ({ title }) => title, text, PAGES.length),
    ...best(namespaces, ({ path }) => path, text, NAMESPACES_MAX).map(
      ({ path, subtreeRunCount }): PaletteEntry => ({
        kind: "namespace",
        title: path,
        path,
        runCount: Number(subtreeRunCount),
      }),
    ),
  ];
}

/** Runs whose name, id or an alias has the text in it; those that changed last come first. */
export function runsQuery(typed: string): string {
  const text = typed.trim();
  const anywhere = quoteText(`%${escapeLike(text)}%`);
  const begins = quoteText(`${escapeLike(text)}%`);
  return `name ilike ${anywhere} or id ilike ${begins} or alias ilike ${anywhere} order by updated desc`;
}

/** Runs that have a metric of exactly this name. */
export function metricQuery(typed: string): string {
  return `${printField({ of: "metric", key: typed.trim(), stat: "count" })} is not null`;
}

/** The unique key of an entry. */
export function entryKey(entry: PaletteEntry): string {
  return `${entry.kind} ${entry.kind === "run" ? entry.run.id : entry.title}`;
}

/** The first with an id that begins with the text, which identifies the run; the others unchanged. */
export function idsFirst(runs: readonly Run[], typed: string): Run[] {
  const text = typed.trim().toLowerCase();
  const isMeant = ({ id }: Run) => id.startsWith(text);
  return readShortId(text) === undefined
    ? [...runs]
    : [...runs.filter(isMeant), ...runs.filter((run) => !isMeant(run))];
}

/** Results of an earlier text that also match this one, shown until its own answer arrives. */
export function stillFitting(entries: readonly PaletteEntry[], typed: string): PaletteEntry[] {
  const text = typed.trim().toLowerCase();
  return entries.filter((entry) => {
    if (entry.kind === "metric") return entry.title === typed.trim();
    if (entry.kind !== "run") return false;
    const { name, id, aliases } = entry.run;
    return id.startsWith(text) || [name, ...aliases].some((each) => each.toLowerCase().includes(text));
  });
}
