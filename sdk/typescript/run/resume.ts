import { Code } from "@connectrpc/connect";
import { isRunId } from "#base/run-id.ts";
import type { ForbiddenCapture } from "#proto/cairn/v1/namespace_pb.ts";
import type { Cairn } from "../client.ts";
import { Failure } from "../failure.ts";
import type { Notices } from "./notices.ts";
import type { RunTarget } from "./open-request.ts";
import type { Recorder } from "./record/recorder.ts";

const PAGE = 1_000;
const PAGES_MAX = 100;

/**
 * The run that `resume` names: an id, a path that ends in one, or an alias. Without an answer an id is taken as it is,
 * and an alias means the run that will be found by it. Throws when the server knows no such run.
 */
export async function findResumed(
  cairn: Cairn | undefined,
  resume: string,
  namespace: string,
  deadlineMs: number,
): Promise<RunTarget> {
  const last = resume.slice(resume.lastIndexOf("/") + 1);
  const target: RunTarget = isRunId(last) ? { by: "id", id: last } : { by: "alias", alias: resume };
  if (cairn === undefined) return target;
  const run = target.by === "id" ? { id: target.id } : { alias: resume, namespace };
  try {
    const found = await cairn.runs.getRun({ run }, { timeoutMs: deadlineMs });
    return { by: "id", id: found.id, namespace: found.namespace };
  } catch (thrown) {
    const failure = Failure.from(thrown, cairn.url);
    const isAnswer = failure.code === Code.NotFound || failure.code === Code.FailedPrecondition;
    if (isAnswer)
      throw new Failure(failure.code, `cannot resume run "${resume}": ${failure.message}`, failure);
    return target;
  }
}

/** What must not be captured there, as far as the server says so in time. */
export async function findForbidden(
  cairn: Cairn,
  path: string,
  deadlineMs: number,
): Promise<ForbiddenCapture | undefined> {
  try {
    const { forbiddenCapture } = await cairn.namespaces.getNamespace({ path }, { timeoutMs: deadlineMs });
    return forbiddenCapture;
  } catch {
    // The server leaves it out, and reports that then.
    return undefined;
  }
}

/** Continues where the run was: with the next step, and with the kinds its series have. */
export async function catchUp(
  cairn: Cairn,
  runId: string,
  recorder: Recorder,
  rank: number | undefined,
  deadlineMs: number,
  notices: Notices,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  let pageToken = "";
  let last = -1;
  try {
    for (let page = 0; page < PAGES_MAX; page++) {
      const timeoutMs = Math.max(1, Math.ceil(deadline - performance.now()));
      const answer = await cairn.metrics.listSeries(
        { run: { id: runId }, pageSize: PAGE, pageToken },
        { timeoutMs },
      );
      for (const { key, labels, kind, summary } of answer.series) {
        recorder.series.learn(key, labels, kind);
        // Other ranks count for themselves.
        if (labels["rank"] !== (rank === undefined ? undefined : String(rank))) continue;
        last = Math.max(last, Number(summary?.last?.step ?? -1n));
      }
      pageToken = answer.nextPageToken;
      if (pageToken === "") break;
    }
  } catch (thrown) {
    const { message } = Failure.from(thrown, cairn.url);
    notices.once(
      "resume",
      `cannot read the last steps of run ${runId}: ${message}; calls without a step begin at ${last + 1}`,
    );
  }
  recorder.nextStep = last + 1;
}
