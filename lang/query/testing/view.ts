import { leaves } from "../../json/leaves.ts";
import type { RunStatus } from "../../statuses.ts";
import type { Literal, MetricStat, ModelField, QueryField, RunField } from "../ast.ts";
import type { RunView } from "../evaluate.ts";
import { isProvenanceList, type ProvenanceList, type SearchableProvenance } from "../provenance-fields.ts";

/** What a query can ask about a run. */
export interface ViewedRun {
  id: string;
  namespace: string;
  name: string;
  aliases: readonly string[];
  status: RunStatus;
  notes: string;
  /** JSON text: an object of all params. */
  params: string;
  tags: ReadonlyMap<string, string>;
  createdUs: number;
  startedUs: number | undefined;
  endedUs: number | undefined;
  updatedUs: number;
  creator: string;
  searchable: SearchableProvenance | undefined;
}

/** `metric` answers undefined where the run has no such number. */
export function viewRun(
  run: ViewedRun,
  metric: (key: string, stat: MetricStat) => number | undefined,
  nowUs: number,
): RunView {
  const params = new Map(leaves(run.params));
  return {
    values(field: QueryField): readonly Literal[] {
      switch (field.of) {
        case "run":
          if (field.name === "alias") return run.aliases;
          if (isProvenanceList(field.name)) return run.searchable?.[field.name] ?? [];
          return present(runField(run, field.name, nowUs));
        case "param":
          return present(params.get(field.key));
        case "tag":
          return present(run.tags.get(field.key));
        case "metric":
          return present(metric(field.key, field.stat));
        case "model":
          return [];
      }
    },
  };
}

/** What a query can ask about a model besides its run. */
export interface ViewedModel {
  name: string;
  step: number | undefined;
  sizeBytes: number | undefined;
  createdUs: number;
}

export function viewModel(model: ViewedModel, run: RunView): RunView {
  return {
    values: (field) => (field.of === "model" ? present(modelField(model, field)) : run.values(field)),
  };
}

function modelField(model: ViewedModel, { name }: ModelField): Literal | undefined {
  switch (name) {
    case "name":
      return model.name;
    case "step":
      return model.step;
    case "size":
      return model.sizeBytes;
    case "created":
      return model.createdUs;
  }
}

function present(value: Literal | null | undefined): readonly Literal[] {
  return value === undefined || value === null ? [] : [value];
}

function runField(
  run: ViewedRun,
  name: Exclude<RunField, "alias" | ProvenanceList>,
  nowUs: number,
): Literal | undefined {
  switch (name) {
    case "created":
      return run.createdUs;
    case "started":
      return run.startedUs;
    case "ended":
      return run.endedUs;
    case "updated":
      return run.updatedUs;
    case "duration":
      return run.startedUs === undefined ? undefined : ((run.endedUs ?? nowUs) - run.startedUs) / 1e6;
    case "creator":
      return run.creator || undefined;
    case "id":
    case "name":
    case "namespace":
    case "notes":
    case "status":
      return run[name];
    default:
      return run.searchable?.[name] || undefined;
  }
}
