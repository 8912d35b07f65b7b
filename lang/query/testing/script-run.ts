import { CairnError, quote } from "../../errors.ts";
import { canonicalJson } from "../../json/canonical.ts";
import { joinObject } from "../../json/object-text.ts";
import { ENDED, RUN_STATUSES } from "../../statuses.ts";
import { readField } from "../field-text.ts";
import { PROVENANCE_LISTS, PROVENANCE_TEXTS, type SearchableProvenance } from "../provenance-fields.ts";
import { parseTimeUs } from "../time.ts";
import type { ViewedModel, ViewedRun } from "./view.ts";

/** A run that a script loads. The values of a metric are its points in order, at steps 0, 1, 2, … */
export interface ScriptRun extends ViewedRun {
  metrics: ReadonlyMap<string, readonly number[]>;
  models: readonly ViewedModel[];
}

/**
 * Reads `NAME FIELD=VALUE …`. A field is written as in a query and a value is JSON without spaces
 * outside strings; times are ISO text, text fields may leave the quotes out. `aliases`, `training_data` and `test_data` are lists, and so is `models`, of
 * [NAME, STEP, SIZE, TIME], of which null and what is left out are missing, or for TIME that of the run:
 *
 *   big status=running namespace=lab/asr params.optim={"lr":0.1} tags.team="asr" metrics.loss=[3,NaN,1]
 *   small aliases=["a"] models=[["best.pt",10,500],["last.pt",null,null,"2026-01-02"]]
 *
 * Run number `index` of a load is by default finished, in "lab", created `index` minutes into 2026,
 * started at once and ended after a minute, and has an id that rises with `index`.
 */
export function parseScriptRun(line: string, index: number): ScriptRun {
  const [name, ...assignments] = splitWords(line);
  const texts = new Map<string, string>();
  const params = new Map<string, string>();
  const tags = new Map<string, string>();
  const metrics = new Map<string, number[]>();
  for (const assignment of assignments) {
    const equals = equalsAt(assignment);
    const left = assignment.slice(0, equals);
    const right = assignment.slice(equals + 1);
    const field = NOT_FIELDS.has(left) ? undefined : readField(left);
    if (field?.of === "param") params.set(field.key, canonicalJson(right, left));
    else if (field?.of === "tag") tags.set(field.key, JSON.parse(right) as string);
    else if (field?.of === "metric") metrics.set(field.key, numbers(right));
    else texts.set(left, right);
  }
  const text = (field: string) => unquoted(texts.get(field));
  const time = (field: string, fallback: number | undefined) => timeOf(text(field), fallback);

  const status = RUN_STATUSES.find((word) => word === (text("status") ?? "finished"));
  if (status === undefined) throw new CairnError("invalid", `cannot read status ${quote(text("status")!)}`);
  const createdUs = time("created", Date.UTC(2026, 0, 1, 0, index) * 1000)!;
  const startedUs = time("started", status === "scheduled" ? undefined : createdUs);
  const endedUs = time("ended", ENDED.has(status) && startedUs !== undefined ? startedUs + 60e6 : undefined);
  return {
    id: text("id") ?? String(index).padStart(32, "0"),
    namespace: text("namespace") ?? "lab",
    name: name!,
    aliases: JSON.parse(texts.get("aliases") ?? "[]") as string[],
    status,
    notes: text("notes") ?? "",
    params: joinObject(params),
    tags,
    metrics,
    models: modelsOf(texts.get("models"), createdUs),
    createdUs,
    startedUs,
    endedUs,
    updatedUs: time("updated", endedUs ?? createdUs)!,
    creator: text("creator") ?? "",
    searchable: searchableOf(text, texts),
  };
}

/** undefined where none of its fields is given. */
function searchableOf(
  text: (field: string) => string | undefined,
  texts: ReadonlyMap<string, string>,
): SearchableProvenance | undefined {
  if (![...PROVENANCE_TEXTS, ...PROVENANCE_LISTS].some((name) => texts.has(name))) return undefined;
  const searchable = {
    ...Object.fromEntries(PROVENANCE_TEXTS.map((name) => [name, text(name) ?? ""])),
    ...Object.fromEntries(
      PROVENANCE_LISTS.map((name) => [name, JSON.parse(texts.get(name) ?? "[]") as string[]]),
    ),
  };
  return searchable as unknown as SearchableProvenance;
}

const NOT_FIELDS = new Set(["aliases", "models"]);

type WrittenModel = [name: string, step?: number | null, size?: number | null, created?: string];

function modelsOf(listText = "[]", runCreatedUs: number): ViewedModel[] {
  return (JSON.parse(listText) as WrittenModel[]).map(([name, step, size, created]) => ({
    name,
    step: step ?? undefined,
    sizeBytes: size ?? undefined,
    createdUs: timeOf(created, runCreatedUs)!,
  }));
}

/** Pieces between spaces; a space in double quotes does not count. */
function splitWords(line: string): string[] {
  return line.match(/(?:[^ "]|"(?:[^"\\]|\\.)*")+/g) ?? [];
}

function equalsAt(assignment: string): number {
  const left = /^(?:[^="]|"(?:[^"\\]|\\.)*")*=/.exec(assignment);
  if (left === null)
    throw new CairnError("invalid", `cannot read assignment ${quote(assignment)}: expected =`);
  return left[0].length - 1;
}

function unquoted(text: string | undefined): string | undefined {
  return text?.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** The word null takes a default away. */
function timeOf(text: string | undefined, fallback: number | undefined): number | undefined {
  if (text === undefined || text === "null") return text === undefined ? fallback : undefined;
  const timeUs = parseTimeUs(text);
  if (timeUs === undefined) throw new CairnError("invalid", `cannot read time ${quote(text)}`);
  return timeUs;
}

function numbers(listText: string): number[] {
  const inside = canonicalJson(listText, "points").slice(1, -1);
  return inside === "" ? [] : inside.split(",").map(Number);
}
