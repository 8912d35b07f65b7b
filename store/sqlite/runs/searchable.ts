import type { SearchableProvenance } from "#lang/query/provenance-fields.ts";
import { NO_CODE, NO_PROVENANCE, type Provenance } from "#core/types/provenance.ts";
import type { Row } from "../file/db.ts";

/** Texts longer than any that is accepted now, which earlier versions may have stored, are not searched. */
const BYTES_MAX = 8 << 10;

/** The column `searchable` of a run. */
export function searchableToText(provenance: Provenance | undefined): string | null {
  if (provenance === undefined) return null;
  const { code, environment } = provenance;
  const searchable: SearchableProvenance = {
    user: text(provenance.user),
    host: text(environment.get("host")),
    study: text(provenance.study),
    initial_state: text(provenance.initialState),
    training_data: provenance.trainingData.filter(isSearched),
    test_data: provenance.testData.filter(isSearched),
    feature_pipeline: text(provenance.featurePipeline),
    logs_location: text(provenance.logsLocation),
    repository: text(code?.repository),
    commit: text(code?.commit),
    branch: text(code?.branch),
  };
  return JSON.stringify(searchable);
}

export function searchableFromText(value: Row[number] | undefined): SearchableProvenance | undefined {
  return typeof value === "string" ? (JSON.parse(value) as SearchableProvenance) : undefined;
}

/** What it has of the provenance. */
export function searchedProvenance(value: string | null): Provenance | undefined {
  const searchable = searchableFromText(value ?? undefined);
  if (searchable === undefined) return undefined;
  const { repository, commit, branch, host } = searchable;
  return {
    ...NO_PROVENANCE,
    initialState: searchable.initial_state,
    trainingData: searchable.training_data,
    testData: searchable.test_data,
    featurePipeline: searchable.feature_pipeline,
    study: searchable.study,
    logsLocation: searchable.logs_location,
    user: searchable.user,
    code: `${repository}${commit}${branch}` === "" ? undefined : { ...NO_CODE, repository, commit, branch },
    environment: host === "" ? NO_PROVENANCE.environment : new Map([["host", host]]),
  };
}

function text(value: string | undefined): string {
  return value !== undefined && isSearched(value) ? value : "";
}

function isSearched(value: string): boolean {
  return value !== "" && Buffer.byteLength(value) <= BYTES_MAX;
}
