import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { AskedRuns, DescribedField, Goal, ListedFields } from "#core/explore/explore.ts";
import type { FieldKind, FoundFrontier, Importance } from "#core/ports/run-search.ts";
import {
  FieldKind as FieldKindMessage,
  GetFrontierResponseSchema,
  GetImportanceResponseSchema,
  ListFieldsResponseSchema,
  type FieldInfoSchema,
  type GetFrontierResponse,
  type GetImportanceResponse,
  type Goal as GoalMessage,
  type ListFieldsResponse,
  type RunSelection,
} from "#proto/cairn/v1/explore_pb.ts";
import { directionOf, fromDirection, fromHeld } from "./namespace.ts";

const KINDS: Readonly<Record<FieldKind, FieldKindMessage>> = {
  param: FieldKindMessage.PARAM,
  tag: FieldKindMessage.TAG,
  metric: FieldKindMessage.METRIC,
};

export function toAskedRuns(message: RunSelection | undefined): AskedRuns {
  return { query: message?.query ?? "", namespace: message?.namespace ?? "" };
}

export function toFieldKinds(messages: readonly FieldKindMessage[]): FieldKind[] {
  return messages.map((message) => {
    for (const [kind, value] of Object.entries(KINDS)) if (value === message) return kind as FieldKind;
    throw new CairnError("invalid", `cannot list fields of kind "${message}": it is unknown`);
  });
}

export function fromListedFields({
  fields,
  nextPageToken,
  runs,
  objective,
}: ListedFields): ListFieldsResponse {
  return create(ListFieldsResponseSchema, {
    fields: fields.map(fromField),
    nextPageToken,
    runCount: BigInt(runs),
    ...(objective !== undefined && { objective: fromHeld(objective) }),
  });
}

function fromField(field: DescribedField): MessageInitShape<typeof FieldInfoSchema> {
  const { description } = field;
  return {
    kind: KINDS[field.kind],
    key: field.key,
    runCount: BigInt(field.runs),
    varies: field.varies,
    variety: field.variety,
    values: field.values.map(([value, runs]) => ({ json: jsonOf(value), runCount: BigInt(runs) })),
    moreValues: field.moreValues,
    numeric: field.numeric,
    direction: fromDirection(description?.direction),
    unit: description?.unit ?? "",
    description: description?.description ?? "",
  };
}

/** Numbers as Python's json writes them. */
function jsonOf(value: number | string | boolean): string {
  if (typeof value !== "number") return JSON.stringify(value);
  return Object.is(value, -0) ? "-0.0" : String(value);
}

export function fromImportance(found: Importance & { objective: string }): GetImportanceResponse {
  return create(GetImportanceResponseSchema, {
    params: found.params.map(({ key, strength, rho, runs, isChance, isCurved, related }) => ({
      key,
      strength,
      ...(!Number.isNaN(rho) && { rho }),
      runCount: BigInt(runs),
      isChance,
      isCurved,
      related,
    })),
    constant: found.constant.slice(0, limits.importanceNamesMax),
    constantCount: BigInt(found.constant.length),
    rare: found.rare.slice(0, limits.importanceNamesMax),
    rareCount: BigInt(found.rare.length),
    runCount: BigInt(found.runs),
    objective: found.objective,
    leftOut: BigInt(found.leftOut),
  });
}

export function toGoals(messages: readonly GoalMessage[]): Goal[] {
  return messages.map(({ field, direction: message }) => {
    const direction = directionOf(message);
    if (direction === undefined) {
      throw new CairnError("invalid", `cannot find the frontier by "${field}": it has no direction`, {
        hint: "give DIRECTION_MINIMIZE or DIRECTION_MAXIMIZE",
      });
    }
    return { field, direction };
  });
}

export function fromFrontier({ runs, total, counted }: FoundFrontier): GetFrontierResponse {
  return create(GetFrontierResponseSchema, {
    runs: runs.map(({ id, name, namespace, values }) => ({ runId: id, runName: name, namespace, values })),
    runCount: BigInt(counted),
    totalCount: BigInt(total),
  });
}
