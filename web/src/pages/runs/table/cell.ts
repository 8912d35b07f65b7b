import { ownValue } from "#base/own-value.ts";
import type { Field } from "#lang/query/ast.ts";
import { formatAgo, formatDuration } from "#lang/words/times.ts";
import { formatNumber } from "#lang/words/numbers.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { paramLeaf, valueText } from "#sdk/run-facts.ts";
import type { PageField } from "../../../data/runs/field.ts";

/** The value of a run in a column: the text to show, and its number if there is one. */
export interface Cell {
  text: string;
  /** For means, colours and the side it is aligned to. */
  number?: number | undefined;
  /** As it was written, for files and titles. */
  whole: string;
}

const NOTHING: Cell = { text: "", whole: "" };

export function cellOf(run: Run, field: PageField, nowMs: number): Cell {
  switch (field.of) {
    case "environment":
      return plain(ownValue(run.provenance?.environment ?? {}, field.key) ?? "");
    case "provenance":
      return plain(run.provenance?.command.join(" ") ?? "");
    case "line":
      return NOTHING;
    default: {
      const whole = valueText(run, field, nowMs);
      return whole === "" ? NOTHING : { ...plain(whole), ...shownOf(run, field, whole, nowMs) };
    }
  }
}

function plain(text: string): Cell {
  return { text, whole: text };
}

/** What differs from the whole value. */
function shownOf(run: Run, field: Field, whole: string, nowMs: number): Partial<Cell> {
  const number = Number(whole);
  switch (field.of) {
    case "metric":
      return { text: formatNumber(number, { even: true }), number };
    case "param":
      return paramLeaf(run, field.key)?.type === "number" ? { number } : {};
    case "tag":
      return {};
  }
  switch (field.name) {
    case "duration":
      return { text: formatDuration(number), number };
    case "created":
    case "started":
    case "ended":
    case "updated":
      return { text: formatAgo(run[`${field.name}Us`], nowMs) };
    default:
      return {};
  }
}
