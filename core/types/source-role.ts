import type { Provenance } from "./provenance.ts";

/** What the provenance of a run says that something was to it, with the numbers of the API; 0 for a link that was added. */
export const SOURCE_ROLES = { initialState: 1, trainingData: 2, testData: 3, featurePipeline: 4 } as const;

export interface RoleSource {
  readonly role: number;
  readonly source: string;
}

/** What the provenance names, each once. */
export function roleSources(provenance: Provenance | undefined): RoleSource[] {
  if (provenance === undefined) return [];
  const { initialState, trainingData, testData, featurePipeline } = provenance;
  const named: [role: number, texts: Iterable<string>][] = [
    [SOURCE_ROLES.initialState, [initialState]],
    [SOURCE_ROLES.trainingData, new Set(trainingData)],
    [SOURCE_ROLES.testData, new Set(testData)],
    [SOURCE_ROLES.featurePipeline, [featurePipeline]],
  ];
  return named.flatMap(([role, texts]) =>
    [...texts].filter((text) => text !== "").map((source) => ({ role, source })),
  );
}
