import { rmSync } from "node:fs";
import { countOf } from "#lang/words/numbers.ts";
import { DeadSpool } from "#sdk/spool/dead-spool.ts";
import { isOwnerAlive, readOwner } from "#sdk/spool/owner.ts";
import { listSegments } from "#sdk/spool/segments.ts";
import { refusedFrames, type RefusedFrame } from "#sdk/spool/set-aside.ts";
import { discardRefused } from "#sdk/sync.ts";
import type { Cairn } from "#sdk/client.ts";
import { EXIT, type Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { retryRefused } from "./retry-refused.ts";

/** `cairn sync --discard`: deletes what was refused, and nothing else. */
export function discardAll(cli: Cli, folders: readonly string[]): void {
  const discarded: RefusedFrame[] = [];
  for (const folder of folders.filter((one) => !isAlive(one))) {
    discarded.push(...refusedFrames(folder));
    discardRefused(folder);
    removeIfEmpty(folder);
  }
  if (cli.options.json === true) cli.printJson({ discarded });
  else if (discarded.length === 0) cli.print("nothing to discard");
  else for (const { what, path } of discarded) cli.print(`discarded ${printable(what)} (${printable(path)})`);
}

/** `cairn sync --retry`: sends what was refused once more, and nothing else. */
export async function retryAll(
  cli: Cli,
  folders: readonly string[],
  connect: (server: string) => Promise<Cairn>,
): Promise<void> {
  const frames = folders.filter((folder) => !isAlive(folder)).flatMap((folder) => refusedFrames(folder));
  const sent: RefusedFrame[] = [];
  const kept: { frame: RefusedFrame; why: string }[] = [];
  const servers = new Map<string, Promise<Cairn>>();
  for (const frame of frames) {
    if (cli.interrupted.aborted) break;
    const server = servers.get(frame.server) ?? connect(frame.server);
    servers.set(frame.server, server);
    try {
      await retryRefused(await server, frame, cli.interrupted);
      rmSync(frame.path, { force: true });
      rmSync(frame.path.replace(/\.frame$/, ".json"), { force: true });
      sent.push(frame);
    } catch (thrown) {
      kept.push({ frame, why: (thrown as Error).message });
    }
  }
  for (const folder of folders) if (!isAlive(folder)) removeIfEmpty(folder);
  if (kept.length > 0) cli.endWith(EXIT.failed);
  if (cli.options.json === true) {
    cli.printJson({ sent, kept: kept.map(({ frame, why }) => Object.assign(frame, { why })) });
    return;
  }
  cli.print(frames.length === 0 ? "nothing was refused" : `${countOf(sent.length, "frame")} sent`);
  for (const { frame, why } of kept) {
    cli.note(`  ${printable(frame.what)}: ${printable(why)} (${printable(frame.path)})`);
  }
}

function isAlive(folder: string): boolean {
  return isOwnerAlive(folder, readOwner(folder));
}

/** The folder of a writer, when nothing in it is needed any more. */
function removeIfEmpty(folder: string): void {
  if (refusedFrames(folder).length > 0) return;
  discardRefused(folder);
  if (listSegments(folder).length === 0) new DeadSpool(folder).close();
}
