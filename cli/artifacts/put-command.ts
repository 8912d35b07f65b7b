import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { countOf, formatBytes } from "#lang/words/numbers.ts";
import { paint, printable } from "../output/text.ts";
import { inParallel } from "#base/in-parallel.ts";
import { paramJson } from "../log/parse-pairs.ts";
import { ARTIFACT_KINDS, parseKind } from "./kinds.ts";
import { parseStep } from "./parse-step.ts";
import { TransferProgress } from "./transfer-progress.ts";
import { measureFile, upload, type MeasuredFile } from "./upload.ts";

const AT_ONCE = 4;
const FILES_MAX = 10_000;
const URI = /^[a-z][a-z0-9+.-]+:\/\//i;

interface Options {
  namespace?: string;
  name?: string;
  prefix?: string;
  step?: bigint;
  kind?: ArtifactKind;
  meta?: ReadonlyMap<string, string>;
}

interface Item {
  name: string;
  /** A path of this machine, or with `isReference` a location elsewhere. */
  from: string;
  isReference: boolean;
}

interface Put {
  name: string;
  from: string;
  outcome: "sent" | "resumed" | "recorded" | "failed";
  sizeBytes?: number;
  sha256?: string;
  error?: string;
}

export function addPut(command: Command, cli: Cli): void {
  command
    .description("upload files to a run, or record where they are; an interrupted upload resumes")
    .argument("<run>", "id, name, alias or path of a run")
    .argument("<files...>", "files, folders, or addresses such as s3://bucket/model, which become references")
    .option("--name <name>", "its name in the run (one file only; default: the file's own)")
    .option("--prefix <path>", "prefix for every name")
    .option("-n, --namespace <path>", "where to look for the run")
    .option("--step <step>", "the step it belongs to", parseStep)
    .option("--kind <kind>", ARTIFACT_KINDS.join(", "), parseKind)
    .option("--meta <key=value>", "metadata; a value that is JSON is kept as such; repeatable", addMeta)
    .addHelpText(
      "after",
      `
One of the same name and step is replaced. The exit code is 1 when a file could not be sent.

Examples:
  cairn artifacts put first-try model.pt --kind model --step 400 --meta val_acc=0.91
  cairn artifacts put first-try plots/ --prefix figures/
  cairn artifacts put first-try s3://models/400 --name model`,
    )
    .action(async (runText: string, files: string[], options: Options) => {
      const items = await itemsOf(files, options);
      const server = await cli.connect();
      const run = await findRun(server, runText, options.namespace);
      await putItems(cli, server, run.id, items, options);
    });
}

async function putItems(
  cli: Cli,
  server: Cairn,
  runId: string,
  items: readonly Item[],
  { step, kind, meta }: Options,
): Promise<void> {
  const done: Put[] = [];
  const fail = ({ name, from }: Item, thrown: unknown) => {
    cli.interrupted.throwIfAborted();
    const error = thrown instanceof CommandError ? thrown.message : Failure.from(thrown, server.url).message;
    done.push({ name, from, outcome: "failed", error: printable(error) });
  };
  const measured: (readonly [Item, MeasuredFile])[] = [];
  const reading = new TransferProgress(cli, "reading", await sizeOf(items));
  for (const item of items.filter(({ isReference }) => !isReference)) {
    const onBytes = (count: number) => reading.add(count);
    await measureFile(item.from, { onBytes, signal: cli.interrupted }).then(
      (file) => measured.push([item, file]),
      (thrown: unknown) => fail(item, thrown),
    );
  }
  reading.end();
  const total = measured.reduce((sum, [, { sizeBytes }]) => sum + sizeBytes, 0);
  const sending = new TransferProgress(cli, "sending", total);
  await inParallel(measured, AT_ONCE, async ([item, file]) => {
    const { sizeBytes, sha256 } = file;
    try {
      const outcome = await upload(
        server,
        file,
        { runId, name: item.name, step },
        {
          kind: ARTIFACT_KINDS[(kind ?? ArtifactKind.FILE) - 1]!,
          metadata: Object.fromEntries(meta ?? []),
          signal: cli.interrupted,
          onBytes: (count) => sending.add(count),
        },
      );
      done.push({ ...item, outcome, sizeBytes, sha256 });
    } catch (thrown) {
      fail(item, thrown);
    }
  });
  sending.end();
  for (const item of items.filter(({ isReference }) => isReference)) {
    try {
      await server.artifacts.recordArtifact({
        run: { id: runId },
        artifact: {
          name: item.name,
          uri: item.from,
          kind: kind ?? ArtifactKind.UNSPECIFIED,
          metadata: Object.fromEntries(meta ?? []),
          ...(step !== undefined && { step }),
        },
      });
      done.push({ ...item, outcome: "recorded" });
    } catch (thrown) {
      fail(item, thrown);
    }
  }
  const places = new Map(items.map(({ name, from }, i) => [`${name}\0${from}`, i]));
  const placeOf = ({ name, from }: Put) => places.get(`${name}\0${from}`) ?? 0;
  report(
    cli,
    done.sort((a, b) => placeOf(a) - placeOf(b)),
  );
}

function report(cli: Cli, done: readonly Put[]): void {
  const failed = done.filter(({ outcome }) => outcome === "failed");
  if (cli.options.json === true) {
    cli.printJson({
      artifacts: done.map(({ name, from, outcome, sizeBytes, sha256, error }) => {
        return { name, from, outcome, sizeBytes, sha256, error };
      }),
    });
  } else {
    for (const { name, from, outcome, sizeBytes, error } of done) {
      if (outcome === "failed") {
        cli.print(`${paint(cli.colour, "red", "✗")} ${printable(from)}: ${error}`);
        continue;
      }
      const more =
        outcome === "recorded"
          ? ` → ${printable(from)}`
          : `  ${formatBytes(sizeBytes ?? 0)}${outcome === "resumed" ? " (resumed)" : ""}`;
      cli.print(`${paint(cli.colour, "green", "✓")} ${printable(name)}${more}`);
    }
  }
  if (failed.length > 0) {
    throw new CommandError(`cannot put ${failed.length} of ${countOf(done.length, "file")}`, {
      hint: "run the command again: what the server has is not sent twice",
    });
  }
}

/** What each argument means. A folder means the plain files in it. */
async function itemsOf(files: readonly string[], { name, prefix = "" }: Options): Promise<Item[]> {
  const items: Item[] = [];
  for (const from of files) {
    const found = await stat(from).catch(() => undefined);
    if (found === undefined && URI.test(from)) {
      items.push({ from, isReference: true, name: from.slice(from.lastIndexOf("/") + 1) });
    } else if (found?.isDirectory() === true) {
      items.push(...(await filesBelow(from)));
    } else items.push({ from, isReference: false, name: basename(from) });
  }
  if (items.length > FILES_MAX) {
    throw new CommandError(`cannot put ${items.length} files at once: the most is ${FILES_MAX}`, {
      hint: "pack them into an archive, or name fewer",
    });
  }
  if (name !== undefined && items.length !== 1) {
    throw new CommandError(`cannot give the name "${printable(name)}" to ${items.length} files`, {
      exitCode: EXIT.usage,
      hint: "use --prefix",
    });
  }
  return items.map((item) => {
    const { from, isReference } = item;
    return { from, isReference, name: prefix + (name ?? item.name) };
  });
}

async function filesBelow(folder: string): Promise<Item[]> {
  const root = basename(resolve(folder));
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const from = join(entry.parentPath, entry.name);
      const name = join(root, from.slice(join(folder, "/").length));
      return { from, isReference: false, name: name.replaceAll("\\", "/") };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function sizeOf(items: readonly Item[]): Promise<number> {
  let sum = 0;
  for (const { from, isReference } of items) {
    if (!isReference)
      sum += await stat(from).then(
        (found) => found.size,
        () => 0,
      );
  }
  return sum;
}

function addMeta(pair: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const equals = pair.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("metadata is KEY=VALUE.");
  const value = pair.slice(equals + 1);
  return new Map(before).set(pair.slice(0, equals), paramJson(value));
}
