import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { countOf, formatBytes } from "#lang/words/numbers.ts";
import { paint, printable } from "../output/text.ts";
import { chooseArtifacts, isReference, type Choice } from "./choose-artifacts.ts";
import { download, type Downloaded } from "./download.ts";
import { inParallel } from "#base/in-parallel.ts";
import { parseStep } from "./parse-step.ts";
import { readContent } from "./read-content.ts";
import { makeRoom, requirePlain, Targets } from "./target-path.ts";
import { TransferProgress } from "./transfer-progress.ts";

const AT_ONCE = 4;

interface Options {
  output?: string;
  namespace?: string;
  step?: bigint;
  allSteps?: boolean;
  all?: boolean;
  force?: boolean;
}

interface Got {
  name: string;
  step: bigint | undefined;
  file?: string;
  sizeBytes: number;
  sha256: string;
  outcome: Downloaded | "failed";
  error?: string;
}

export function addGet(command: Command, cli: Cli): void {
  command
    .description("download files of a run; an interrupted download resumes where it stopped")
    .argument("<run>", "id, name, alias or path of a run")
    .argument("[names...]", "names of artifacts, or of folders of them")
    .option("-o, --output <place>", "a folder, a file, or - for standard output (default: this folder)")
    .option("-n, --namespace <path>", "where to look for the run")
    .option("--step <step>", "the one of this step", parseStep)
    .option("--all-steps", "every step, as NAME.step-7.EXT")
    .option("--all", "everything the run has")
    .option("--force", "replace files of other content")
    .addHelpText(
      "after",
      `
References (s3://… and so on) are listed, not fetched. The exit code is 1 when a file could not be fetched.

Examples:
  cairn artifacts get first-try model.pt
  cairn artifacts get first-try checkpoints/ -o /tmp/first-try
  cairn artifacts get first-try config.json -o - | jq .`,
    )
    .action(async (runText: string, names: string[], options: Options) => {
      if (names.length === 0 && options.all !== true) {
        throw new CommandError("cannot get artifacts: no name given", {
          exitCode: EXIT.usage,
          hint: "give one or more names, or --all",
        });
      }
      const server = await cli.connect();
      const run = await findRun(server, runText, options.namespace);
      const choices = await chooseArtifacts(server, run.id, names, {
        step: options.step,
        allSteps: options.allSteps === true,
        all: options.all === true,
      });
      if (options.output === "-") await getToStdout(cli, server, choices);
      else await getFiles(cli, server, choices, options);
    });
}

async function getFiles(
  cli: Cli,
  server: Cairn,
  choices: readonly Choice[],
  options: Options,
): Promise<void> {
  const references = choices.filter(({ artifact }) => isReference(artifact));
  const stored = choices.filter(({ artifact }) => !isReference(artifact));
  const place = await placeOf(stored, options.output);
  const progress = new TransferProgress(
    cli,
    "getting",
    stored.reduce((sum, { artifact }) => sum + Number(artifact.sizeBytes), 0),
  );
  const got: Got[] = [];
  await inParallel([...stored.entries()], AT_ONCE, async ([i, { artifact, fileName }]) => {
    const { name, step, sha256 } = artifact;
    const about = { name, step, sizeBytes: Number(artifact.sizeBytes), sha256 };
    try {
      cli.interrupted.throwIfAborted();
      const file = await place(fileName, artifact);
      let first = true;
      const outcome = await download(server, artifact, file, {
        force: options.force === true,
        signal: cli.interrupted,
        onBytes: (count) => {
          // The first call says what was there before.
          progress.add(count, { moved: !first });
          first = false;
        },
      });
      got[i] = { ...about, file, outcome };
    } catch (thrown) {
      got[i] = { ...about, outcome: "failed", error: wordsOf(thrown, server) };
    }
  });
  progress.end();
  cli.interrupted.throwIfAborted();
  report(cli, got, references, progress.rate);
}

/** What puts a file where it belongs: into the folder, or at the one path that was named. */
async function placeOf(
  stored: readonly Choice[],
  output: string | undefined,
): Promise<(fileName: string, artifact: Artifact) => Promise<string>> {
  const folder = output ?? ".";
  const isFile =
    output !== undefined &&
    stored.length === 1 &&
    stored[0]!.named &&
    !/[/\\]$/.test(output) &&
    !(await stat(output).then(
      (found) => found.isDirectory(),
      () => false,
    ));
  if (isFile) {
    return async (_fileName, { name }) => {
      await mkdir(dirname(output), { recursive: true });
      await requirePlain(output, name);
      return output;
    };
  }
  const targets = new Targets();
  return async (fileName) => makeRoom(folder, targets.add(fileName), fileName);
}

async function getToStdout(cli: Cli, server: Cairn, choices: readonly Choice[]): Promise<void> {
  const [choice] = choices;
  if (choice === undefined || choices.length !== 1 || cli.options.json === true) {
    throw new CommandError("cannot write to standard output: it takes one file, and no --json", {
      exitCode: EXIT.usage,
      hint: "give -o FOLDER",
    });
  }
  const { artifact } = choice;
  if (isReference(artifact)) throw referenceError(artifact);
  const { stdout } = cli.surroundings;
  const hash = createHash("sha256");
  const take = async (bytes: Uint8Array) => {
    hash.update(bytes);
    if (!stdout.write(bytes)) await once(stdout, "drain", { signal: cli.interrupted });
  };
  await readContent(server, artifact, { from: 0, take, signal: cli.interrupted });
  if (hash.digest("hex") !== artifact.sha256) {
    throw new CommandError(`cannot use what was written: its SHA-256 is not ${artifact.sha256}`);
  }
}

function report(cli: Cli, got: readonly Got[], references: readonly Choice[], rate: string): void {
  const failed = got.filter(({ outcome }) => outcome === "failed");
  const missed = references.filter(({ named }) => named);
  if (cli.options.json === true) {
    cli.printJson({
      files: got,
      references: references.map(({ artifact: { name, step, uri } }) => ({ name, step, uri })),
    });
  } else {
    const words = { fetched: "", resumed: " (resumed)", same: " (unchanged)", failed: "" };
    for (const { name, file, outcome, sizeBytes, error } of got) {
      const mark = outcome === "failed" ? paint(cli.colour, "red", "✗") : paint(cli.colour, "green", "✓");
      const said = outcome === "failed" ? `${printable(name)}: ${error}` : printable(join(file!));
      cli.print(
        `${mark} ${said}${outcome === "failed" ? "" : `  ${formatBytes(sizeBytes)}`}${words[outcome]}`,
      );
    }
    for (const { artifact } of references) {
      cli.print(
        `${paint(cli.colour, "dim", "→")} ${printable(artifact.name)} is a reference: ${printable(artifact.uri)}`,
      );
    }
    if (got.length > 1) {
      const bytes = got.reduce((sum, one) => sum + (one.outcome === "failed" ? 0 : one.sizeBytes), 0);
      cli.note(`${countOf(got.length - failed.length, "file")}, ${formatBytes(bytes)}, ${rate}`);
    }
  }
  if (failed.length > 0) {
    throw new CommandError(`cannot get ${failed.length} of ${countOf(got.length, "file")}`, {
      hint: "run the command again: what was downloaded is kept",
    });
  }
  if (missed.length > 0) throw referenceError(missed[0]!.artifact);
}

function referenceError({ name, uri }: Artifact): CommandError {
  return new CommandError(
    `cannot get artifact "${printable(name)}": it is a reference to ${printable(uri)}`,
    {
      hint: "fetch it with a program for that kind of address",
    },
  );
}

function wordsOf(thrown: unknown, server: Cairn): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown instanceof CommandError) return thrown.message;
  if ("code" in thrown && typeof thrown.code === "string") return printable(thrown.message);
  return thrown.name === "UnsafeTarget"
    ? thrown.message
    : printable(Failure.from(thrown, server.url).message);
}
