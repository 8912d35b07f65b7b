import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ForbiddenCaptures } from "./forbidden-captures.ts";
import type { CaptureOptions } from "./init-options.ts";
import type { Run } from "./run.ts";

/** Every part decided. */
export interface CaptureChoice {
  console: boolean;
  provenance: false | { gitTimeoutMs?: number | undefined };
  /** undefined: where there is a git repository. */
  archive: boolean | undefined;
  system: false | { intervalMs?: number | undefined };
}

export function chooseCaptures(given: boolean | CaptureOptions = true): CaptureChoice {
  if (given === false) return { console: false, provenance: false, archive: false, system: false };
  const { console = true, provenance = true, archive, system = true } = given === true ? {} : given;
  return {
    console,
    provenance: provenance === true ? {} : provenance,
    archive,
    system: system === true ? {} : system,
  };
}

/** Starts to watch what was chosen and is not forbidden, until the run ends. */
export async function startCaptures(
  run: Run,
  choice: CaptureChoice,
  forbidden: ForbiddenCaptures,
): Promise<void> {
  if (choice.console && !forbidden.console) {
    const { captureConsole } = await import("../capture/console.ts");
    run.add(captureConsole((stream, line, timeUs) => run.printed(line, { stream, timeUs })));
  }
  if (choice.system !== false) {
    const { startSystemMetrics } = await import("../capture/system.ts");
    const { intervalMs } = choice.system;
    run.add(startSystemMetrics(run, intervalMs === undefined ? {} : { intervalMs }));
  }
}

/** The artifact name of the working directory. */
const ARCHIVE_NAME = "code/workdir.tar.gz";

/** What came of the archive: its name, or why there is none. */
export type ArchiveOutcome = { name: string } | { note: string };

/**
 * Archives the working directory beside the training; undefined where that is not wanted. Never rejects.
 */
export async function archiveCode(
  run: Run,
  choice: CaptureChoice,
  forbidden: ForbiddenCaptures,
): Promise<ArchiveOutcome | undefined> {
  if (choice.archive === false || forbidden.code) return undefined;
  try {
    const { isWorthArchiving } = await import("../capture/provenance.ts");
    if (choice.archive === undefined && !(await isWorthArchiving())) return undefined;
    return await makeArchive(run, forbidden);
  } catch (thrown) {
    return { note: `left out: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
  }
}

async function makeArchive(run: Run, forbidden: ForbiddenCaptures): Promise<ArchiveOutcome> {
  const { archiveWorkdir } = await import("../capture/archive/archive.ts");
  // Beside the other files of the spool, so that a link is enough to keep it.
  const folder = join(run.spoolFolder, "files");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { path, note } = await archiveWorkdir(process.cwd(), join(folder, "workdir.tar.gz"));
  if (path === undefined) return { note: note ?? "left out" };
  // The server may have answered meanwhile.
  const { codeIn } = forbidden;
  if (codeIn === undefined) await run.artifact(ARCHIVE_NAME, path, {}, { mediaType: "application/gzip" });
  await rm(path, { force: true });
  if (codeIn === undefined) return { name: ARCHIVE_NAME };
  return { note: `left out: namespace ${JSON.stringify(codeIn)} forbids code capture` };
}
