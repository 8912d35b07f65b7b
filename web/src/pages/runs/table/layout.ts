import { fieldLabel, findPageField, type PageField } from "../../../data/runs/field.ts";
import type { KnownKeys } from "../../../data/runs/known-keys.ts";
import type { RunsSearch } from "../search.ts";

/** A column of the table, with position and width. */
export interface Column {
  /** The field as text; what the address has. */
  text: string;
  field: PageField;
  label: string;
  width: number;
  /** Pixels from the left edge if it is pinned; undefined for one that scrolls. */
  stickyLeft: number | undefined;
  /** The last pinned one. */
  isEdge: boolean;
  isNumeric: boolean;
}

/** Before the columns: the box, the eye and the colour. */
export const LEAD_WIDTH = 76;
const WIDTHS: Readonly<Record<string, number>> = {
  name: 148,
  status: 126,
  duration: 78,
  started: 96,
  created: 96,
  ended: 96,
  updated: 96,
  namespace: 180,
  id: 120,
  alias: 160,
  notes: 220,
  creator: 110,
  user: 110,
  host: 110,
};
const OTHER_WIDTHS = {
  param: 104,
  tag: 110,
  environment: 120,
  metric: 120,
  line: 92,
  provenance: 150,
} as const;
const LABEL_PX = 7.5;
const LABEL_ROOM = 38;
const LABELLED_MAX = 180;
/** Beside the mean of a group. */
const DEVIATION_WIDTH = 24;
const NONE: ReadonlySet<string> = new Set();

/** The name of a run is always the first, pinned column. */
export function layOut(
  columns: readonly string[],
  { pin = [], w = {} }: Pick<RunsSearch, "pin" | "w">,
  { numeric = NONE, isGrouped = false }: { numeric?: KnownKeys["numeric"]; isGrouped?: boolean } = {},
): Column[] {
  const wanted = columns.flatMap((text) => {
    const field = findPageField(text);
    return field === undefined || isName(field) ? [] : [{ text, field }];
  });
  const pinned = new Set(pin);
  const ordered = [
    { text: "name", field: { of: "run", name: "name" } as const satisfies PageField },
    ...wanted.filter(({ text }) => pinned.has(text)),
    ...wanted.filter(({ text }) => !pinned.has(text)),
  ];
  let left = LEAD_WIDTH;
  const edge = wanted.findLast(({ text }) => pinned.has(text))?.text ?? "name";
  return ordered.map(({ text, field }) => {
    const label = fieldLabel(field);
    const width =
      w[text] ?? defaultWidth(field, label) + (isGrouped && field.of === "metric" ? DEVIATION_WIDTH : 0);
    const isPinned = text === "name" || pinned.has(text);
    const column = {
      text,
      field,
      label,
      width,
      stickyLeft: isPinned ? left : undefined,
      isEdge: text === edge,
      isNumeric: isNumeric(field, numeric),
    };
    if (isPinned) left += width;
    return column;
  });
}

function isName(field: PageField): boolean {
  return field.of === "run" && field.name === "name";
}

/** Numbers and their headers are aligned right. */
function isNumeric(field: PageField, numeric: KnownKeys["numeric"]): boolean {
  if (field.of === "run") return field.name === "duration";
  return field.of === "metric" || (field.of === "param" && numeric.has(field.key));
}

function defaultWidth(field: PageField, label: string): number {
  if (field.of === "run") return WIDTHS[field.name] ?? OTHER_WIDTHS.provenance;
  return Math.min(
    LABELLED_MAX,
    Math.max(OTHER_WIDTHS[field.of], Math.ceil(label.length * LABEL_PX) + LABEL_ROOM),
  );
}

export function tableWidth(columns: readonly Column[]): number {
  return columns.reduce((sum, { width }) => sum + width, LEAD_WIDTH);
}

/** The columns with one of them moved to the place of another. */
export function moved(columns: readonly string[], from: string, to: string): string[] {
  const end = columns.indexOf(to);
  if (!columns.includes(from) || end < 0 || from === to) return [...columns];
  const others = columns.filter((text) => text !== from);
  others.splice(end, 0, from);
  return others;
}
