import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Provenance } from "#core/types/provenance.ts";
import {
  ProvenanceSchema,
  type Provenance as ProvenanceMessage,
  type TrackedChanges,
} from "#proto/cairn/v1/run_pb.ts";
import { fromMap, toInteger, toMap } from "./map.ts";

export function toProvenance(message: ProvenanceMessage): Provenance;
export function toProvenance(message: ProvenanceMessage | undefined): Provenance | undefined;
export function toProvenance(message: ProvenanceMessage | undefined): Provenance | undefined {
  if (message === undefined) return undefined;
  const { code } = message;
  return {
    initialState: message.initialState,
    trainingData: message.trainingData,
    testData: message.testData,
    featurePipeline: message.featurePipeline,
    study: message.study,
    logsLocation: message.logsLocation,
    user: message.user,
    command: message.command,
    code: code && {
      repository: code.repository,
      commit: code.commit,
      branch: code.branch,
      dirtyPatch: code.dirtyPatch,
      archive: code.archive,
      trackedChanges: code.trackedChanges,
      ...(code.untrackedFiles !== undefined && { untrackedFiles: code.untrackedFiles }),
      ...(code.changedSubmodules !== undefined && { changedSubmodules: code.changedSubmodules }),
      patchLeftOut: code.patchLeftOut,
      leftOutBytes: toInteger(code.leftOutBytes, "size of a missing patch"),
    },
    environment: toMap(message.environment),
  };
}

export function fromProvenance(provenance: Provenance): MessageInitShape<typeof ProvenanceSchema> {
  const { code, environment, trainingData, testData, command, ...rest } = provenance;
  return {
    ...rest,
    trainingData: [...trainingData],
    testData: [...testData],
    command: [...command],
    environment: fromMap(environment),
    ...(code !== undefined && {
      code: {
        ...code,
        trackedChanges: code.trackedChanges as TrackedChanges,
        leftOutBytes: BigInt(code.leftOutBytes),
      },
    }),
  };
}
