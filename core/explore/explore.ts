import type { Clock } from "#base/clock.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Field, Query } from "#lang/query/ast.ts";
import { readQuery } from "#lang/query/check.ts";
import { fieldType } from "#lang/query/fields.ts";
import { printField, readField } from "#lang/query/field-text.ts";
import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import type { MetricKeys } from "../objective/metric-keys.ts";
import { objectiveField, type HeldObjective, type Objectives } from "../objective/objectives.ts";
import { pageSize } from "../lists/page-size.ts";
import type {
  FieldInfo,
  FieldKind,
  FoundFrontier,
  FrontierRun,
  Importance,
  RunSearch,
  RunSelection,
} from "../ports/run-search.ts";
import { requireText } from "../types/check.ts";
import type { Direction, KeyDescription } from "../types/namespace.ts";

/** Which runs a question is about: those in a namespace and below it that match a query. */
export interface AskedRuns {
  query: string | Query;
  namespace: string;
}

export interface AskedFields {
  runs: AskedRuns;
  /** Empty for all. */
  kinds: readonly FieldKind[];
  find: string;
  /** 0 for the default, below 0 for none. */
  valuesMax: number;
  pageSize: number;
  pageToken: string;
}

export interface ListedFields {
  fields: DescribedField[];
  nextPageToken: string;
  /** Runs that are selected. */
  runs: number;
  objective: HeldObjective | undefined;
}

export interface DescribedField extends FieldInfo {
  description: KeyDescription | undefined;
}

export interface Goal {
  /** As in the query language. */
  field: string;
  direction: Direction;
}

/** Questions about many runs at once, answered from the run index. */
export class Explore {
  readonly #search: RunSearch;
  readonly #metricKeys: MetricKeys;
  readonly #objectives: Objectives;
  readonly #clock: Clock;

  constructor(parts: { search: RunSearch; metricKeys: MetricKeys; objectives: Objectives; clock: Clock }) {
    this.#search = parts.search;
    this.#metricKeys = parts.metricKeys;
    this.#objectives = parts.objectives;
    this.#clock = parts.clock;
  }

  async listFields(caller: Caller, request: AskedFields): Promise<ListedFields> {
    const selection = this.#select(caller, request.runs);
    const { objective, described } = await this.#metricKeys.meaningIn(caller, selection.under);
    const limit = pageSize(request.pageSize, limits.fieldsDefault);
    const offset = parseOffset(request.pageToken);
    const kinds: readonly FieldKind[] =
      request.kinds.length === 0 ? ["param", "tag", "metric"] : request.kinds;
    const asked = {
      ...selection,
      kinds: new Set(kinds),
      find: requireText(request.find, limits.keyBytesMax, "text to find"),
      known: { objective: objective?.metric, described: new Set(described.keys()) },
      valuesMax: valuesMax(request.valuesMax),
      offset,
      limit,
    };
    const { fields, total, runs } = await this.#search.fields(asked, caller.signal);
    return {
      fields: fields.map((field) => ({
        ...field,
        description: field.kind === "metric" ? described.get(field.key) : undefined,
      })),
      nextPageToken: offset + fields.length < total ? String(offset + fields.length) : "",
      runs,
      objective,
    };
  }

  /** `objective` names a number of the query language; "" for the objective of the namespace. */
  async importance(
    caller: Caller,
    request: { runs: AskedRuns; objective: string },
  ): Promise<Importance & { objective: string }> {
    const selection = this.#select(caller, request.runs);
    const objective =
      request.objective === ""
        ? await this.#objectiveOf(caller, selection.under)
        : parseNumber(request.objective);
    const asked = {
      ...selection,
      objective,
      bounds: { paramsMax: limits.importanceParamsMax, valuesMax: limits.importanceValuesMax },
    };
    const found = await this.#search.importance(asked, caller.signal);
    return { ...found, objective: printField(objective) };
  }

  async frontier(
    caller: Caller,
    request: { runs: AskedRuns; goals: readonly Goal[] },
  ): Promise<FoundFrontier> {
    const selection = this.#select(caller, request.runs);
    const { length } = request.goals;
    if (length < 2 || length > limits.frontierGoalsMax) {
      throw new CairnError(
        "invalid",
        `cannot find the frontier of ${length} goals: give 2 to ${limits.frontierGoalsMax}`,
      );
    }
    const goals = request.goals.map(({ field, direction }) => ({
      field: parseNumber(field),
      maximize: direction === "maximize",
    }));
    const asked = { ...selection, goals, limit: limits.frontierRunsMax };
    const found = await this.#search.frontier(asked, caller.signal);
    // They are named as they are now: one may have been moved out of sight since it was found.
    const isSeen = ({ id: runId, namespace }: FrontierRun) => maySee(caller, { namespace, runId });
    return { ...found, runs: found.runs.filter(isSeen) };
  }

  #select(caller: Caller, { query, namespace }: AskedRuns): RunSelection {
    authorizeCall(caller);
    const nowUs = this.#clock.nowUs();
    return {
      query: readQuery(query, { nowUs, me: caller.principal.name }),
      under: parseNamespace(namespace, { root: true }),
      readable: caller.rights.readable(),
      nowUs,
    };
  }

  async #objectiveOf(caller: Caller, namespace: string): Promise<Field> {
    const held = await this.#objectives.of(caller, namespace);
    if (held !== undefined) return objectiveField(held);
    throw new CairnError(
      "precondition",
      `cannot explain the runs of ${quote(namespace)}: it has no objective`,
      {
        reason: "NO_OBJECTIVE",
        hint: "name a metric, such as metrics.loss.min, or set the namespace's objective",
      },
    );
  }
}

/** A field of the query language that holds numbers. */
function parseNumber(text: string): Field {
  const field = readField(requireText(text, limits.queryBytesMax, "field"));
  const type = fieldType(field);
  if (type === "number" || type === "any" || type === "seconds") return field;
  throw new CairnError("invalid", `cannot compute with ${quote(text)}: it does not name a number`, {
    hint: "name a metric such as metrics.loss.min, a param such as params.lr, or duration",
  });
}

function valuesMax(asked: number): number {
  if (asked > limits.fieldValuesMax) {
    throw new CairnError(
      "invalid",
      `cannot return ${asked} values of each field: the most is ${limits.fieldValuesMax}`,
    );
  }
  return asked === 0 ? limits.fieldValuesMax : Math.max(0, asked);
}

function parseOffset(pageToken: string): number {
  const offset = pageToken === "" ? 0 : Number(pageToken);
  if (Number.isSafeInteger(offset) && offset >= 0) return offset;
  throw new CairnError("invalid", `cannot use page token ${quote(pageToken)}: it is not one of this list`, {
    reason: "PAGE_TOKEN",
  });
}
