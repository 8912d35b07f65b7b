import { Cairn } from "../../client.ts";
import type { CaptureOptions } from "../../run/init-options.ts";
import { isCaptured, trackerBegins } from "../../run/job-runs.ts";
import type { ReportProblem } from "../api.ts";
import { lastPart, RUN_ID_TAG, runIdTag, toAlias } from "../torchx-names.ts";
import type { CairnConfig } from "./cairn-config.ts";
import type { TrackedJob } from "./cairn-runs.ts";

const PARTS = ["archive", "code", "console", "host", "packages", "system"];
const FIND_MS = 2_000;
const FINISH_MS = 5_000;

/** What the option `capture` of a config chooses, such as "none" and "console,code". Everything without it. */
export function readCaptures(text: string | null, report: ReportProblem): boolean | CaptureOptions {
  if (text === null) return true;
  const names = text.split(/[\s,]+/).filter((name) => name !== "" && name !== "none");
  const unknown = names.find((name) => !PARTS.includes(name));
  if (unknown !== undefined) {
    report(`cannot capture "${unknown.slice(0, 80)}": choose among ${PARTS.join(", ")}; nothing is captured`);
  }
  if (unknown !== undefined || names.length === 0) return false;
  return {
    archive: names.includes("archive"),
    console: names.includes("console"),
    // They are collected together.
    provenance: ["code", "host", "packages"].some((name) => names.includes(name)),
    system: names.includes("system"),
  };
}

/**
 * Records of the job that this process is part of what `init()` records: code, command, machine, console, load, that it is
 * alive and how it ended. Does nothing where the program has called `init()` for it.
 */
export async function beginJobRun(
  { server, namespace, timeoutMs, capture, spool }: CairnConfig,
  job: TrackedJob,
): Promise<void> {
  const alias = toAlias(job.id);
  if (isCaptured(alias)) return;
  await trackerBegins(alias, async () => {
    const { beginRun } = await import("../../run/init.ts");
    // The launcher may have made it in another namespace.
    const found = await new Cairn(server).runs
      .getRun({ run: { alias, namespace } }, { timeoutMs: Math.min(FIND_MS, timeoutMs ?? FIND_MS) })
      .catch(() => undefined);
    const target =
      found === undefined
        ? {
            alias,
            namespace: [namespace, job.experimentName].filter((part) => part !== "").join("/"),
            name: job.runName || lastPart(job.id),
            tags: { [RUN_ID_TAG]: runIdTag(job.id) },
          }
        : { resume: found.id };
    return beginRun({
      ...target,
      server: server.url,
      ...(server.token !== undefined && { token: server.token }),
      ...(spool !== undefined && { spool }),
      capture,
      openMs: Math.min(FIND_MS, timeoutMs ?? FIND_MS),
      // What is not delivered by then stays in the spool.
      finishMs: timeoutMs ?? FINISH_MS,
    });
  });
}
