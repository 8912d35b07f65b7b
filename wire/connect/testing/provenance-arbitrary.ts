import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Code as CoreCode, Provenance as CoreProvenance } from "#core/types/provenance.ts";
import { ProvenanceSchema, type Provenance, type TrackedChanges } from "#proto/cairn/v1/run_pb.ts";

/** Random provenance, and what it means. */

const text = fc.string({ unit: "binary", maxLength: 20 });
const list = fc.array(text, { maxLength: 3 });
const count = fc.nat();

const CODE_KEYS: Exclude<keyof CoreCode, "untrackedFiles" | "changedSubmodules">[] = [
  "repository",
  "commit",
  "branch",
  "dirtyPatch",
  "archive",
  "trackedChanges",
  "patchLeftOut",
  "leftOutBytes",
];

const code = fc.record(
  {
    repository: text,
    commit: text,
    branch: text,
    dirtyPatch: text,
    archive: text,
    trackedChanges: fc.constantFrom<TrackedChanges>(0, 1, 2),
    untrackedFiles: count,
    changedSubmodules: count,
    patchLeftOut: text,
    leftOutBytes: fc.bigInt({ min: 0n, max: 2n ** 53n }),
  },
  { requiredKeys: CODE_KEYS },
);

export const provenances: fc.Arbitrary<Provenance> = fc
  .record({
    initialState: text,
    trainingData: list,
    testData: list,
    featurePipeline: text,
    study: text,
    code: fc.option(code, { nil: undefined }),
    command: list,
    environment: fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true }),
    logsLocation: text,
    user: text,
  })
  .map(({ code: given, ...rest }) =>
    create(ProvenanceSchema, { ...rest, ...(given !== undefined && { code: given }) }),
  );

export function meaningOfProvenance(message: Provenance): CoreProvenance {
  const { code: given, environment, ...rest } = message;
  const { $typeName: _, ...fields } = rest;
  const { $typeName: __, leftOutBytes, ...codeFields } = given ?? { $typeName: "", leftOutBytes: 0n };
  return {
    ...fields,
    code: given && { ...(codeFields as CoreProvenance["code"] & object), leftOutBytes: Number(leftOutBytes) },
    environment: new Map(Object.entries(environment)),
  };
}
