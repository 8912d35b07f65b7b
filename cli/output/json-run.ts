import { RunStatus, TrackedChanges, type Code, type Run } from "#proto/cairn/v1/run_pb.ts";
import { JsonError, parseJson } from "#lang/json/parse.ts";
import { jsonValue, numberOf, type JsonValue } from "#lang/json/write.ts";
import { isoTime } from "#lang/words/times.ts";
import { describeWorkTree } from "#lang/words/work-tree.ts";
import { wordOf } from "#lang/words/enums.ts";

/** A run for `--json`: plain values, times as ISO text, params with their types where JSON has them. */
export function jsonRun(run: Run): Record<string, unknown> {
  const { provenance } = run;
  return {
    id: run.id,
    namespace: run.namespace,
    name: run.name,
    status: wordOf(RunStatus, run.status),
    aliases: run.aliases,
    notes: run.notes,
    params: jsonParams(run.params),
    tags: plainRecord(Object.entries(run.tags)),
    ...(Object.keys(run.metrics).length > 0 && { metrics: plainRecord(Object.entries(run.metrics)) }),
    created: isoTime(run.createdUs),
    started: isoTime(run.startedUs),
    ended: isoTime(run.endedUs),
    updated: isoTime(run.updatedUs),
    deleted: isoTime(run.deletedUs),
    creator: run.creator,
    endedBy: run.endedBy,
    changedBy: run.changedBy,
    deletedBy: run.deletedBy,
    ...(provenance && {
      provenance: {
        initialState: provenance.initialState,
        trainingData: provenance.trainingData,
        testData: provenance.testData,
        featurePipeline: provenance.featurePipeline,
        study: provenance.study,
        logsLocation: provenance.logsLocation,
        user: provenance.user,
        code: provenance.code && jsonCode(provenance.code),
        command: provenance.command,
        environment: plainRecord(Object.entries(provenance.environment)),
      },
    }),
  };
}

/** What is unknown is null. */
function jsonCode(code: Code): Record<string, unknown> {
  const { trackedChanges, untrackedFiles, changedSubmodules, leftOutBytes } = code;
  return {
    repository: code.repository,
    commit: code.commit,
    branch: code.branch,
    dirtyPatch: code.dirtyPatch,
    archive: code.archive,
    state: describeWorkTree(code),
    trackedChanges:
      trackedChanges === TrackedChanges.UNSPECIFIED ? null : trackedChanges === TrackedChanges.SOME,
    untrackedFiles: untrackedFiles ?? null,
    changedSubmodules: changedSubmodules ?? null,
    patchLeftOut: code.patchLeftOut || null,
    leftOutBytes: leftOutBytes === 0n ? null : Number(leftOutBytes),
  };
}

/** Params as they are sent (JSON text per key), parsed. */
export function jsonParams(params: Readonly<Record<string, string>>): Record<string, JsonValue> {
  return plainRecord(Object.entries(params).map(([key, text]) => [key, parseParam(text)]));
}

/**
 * The value of a param. What JavaScript cannot hold, NaN, infinities and integers beyond 2^53, is text; so is what is
 * not JSON at all.
 */
export function parseParam(text: string): JsonValue {
  try {
    return jsonValue(parseJson(text), heldNumber);
  } catch (thrown) {
    if (thrown instanceof JsonError) return text;
    throw thrown;
  }
}

function heldNumber(source: string): number | string {
  const number = numberOf(source);
  return typeof number === "number" && Number.isFinite(number) ? number : source;
}

/** Keys are untrusted: `__proto__` must be a key like any other. */
function plainRecord<V>(entries: Iterable<readonly [string, V]>): Record<string, V> {
  const record: Record<string, V> = Object.create(null) as Record<string, V>;
  for (const [key, value] of entries) record[key] = value;
  return record;
}
