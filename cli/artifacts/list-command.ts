import type { Command } from "commander";
import { ArtifactKind, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cli } from "../cli.ts";
import { findRun } from "../find-run.ts";
import { jsonParams } from "../output/json-run.ts";
import { countOf, formatBytes } from "#lang/words/numbers.ts";
import { table } from "../output/table.ts";
import { printable } from "../output/text.ts";
import { formatAgo, isoTime } from "#lang/words/times.ts";
import { wordOf } from "#lang/words/enums.ts";
import { tableWidth } from "../runs/table-width.ts";
import { isReference, listArtifacts } from "./choose-artifacts.ts";
import { ARTIFACT_KINDS, parseKind } from "./kinds.ts";

interface ListOptions {
  prefix: string;
  kind?: ArtifactKind;
  replaced?: boolean;
  namespace?: string;
}

export function addList(command: Command, cli: Cli): void {
  command
    .description("files and locations that belong to a run")
    .argument("<run>", "id, name, alias or path of a run")
    .option("--prefix <text>", "only names that begin so", "")
    .option("--kind <kind>", `only ${ARTIFACT_KINDS.join(", ")}`, parseKind)
    .option(
      "--replaced",
      "versions that were replaced or deleted, newest first; `artifacts restore` brings one back",
    )
    .option("-n, --namespace <path>", "where to look for the run")
    .addHelpText(
      "after",
      `
Examples:
  cairn artifacts ls first-try
  cairn artifacts ls first-try --prefix checkpoints/ --json
  cairn artifacts ls first-try --replaced`,
    )
    .action(async (text: string, options: ListOptions) => {
      const server = await cli.connect();
      const run = await findRun(server, text, options.namespace);
      const { prefix, kind, replaced = false } = options;
      const artifacts = await Array.fromAsync(listArtifacts(server, run.id, prefix, kind, replaced));
      if (cli.options.json === true) cli.printJson({ runId: run.id, artifacts: artifacts.map(jsonArtifact) });
      else if (artifacts.length === 0) cli.note(`${printable(run.name)} has no such artifacts`);
      else {
        cli.print(artifactTable(cli, artifacts));
        const bytes = artifacts.reduce(
          (sum, one) => sum + (isReference(one) ? 0n : (one.sizeBytes ?? 0n)),
          0n,
        );
        cli.note(`${countOf(artifacts.length, "artifact")}, ${formatBytes(bytes)} stored`);
      }
    });
}

function artifactTable(cli: Cli, artifacts: readonly Artifact[]): string {
  const hasSteps = artifacts.some(({ step }) => step !== undefined);
  const areReplaced = artifacts.some(({ version }) => version > 0n);
  const rows = artifacts.map((artifact) => [
    printable(artifact.name),
    ...(hasSteps ? [artifact.step === undefined ? "" : String(artifact.step)] : []),
    wordOf(ArtifactKind, artifact.kind),
    artifact.sizeBytes === undefined ? "" : formatBytes(artifact.sizeBytes),
    formatAgo(artifact.createdUs),
    printable(artifact.createdBy),
    ...(areReplaced
      ? [String(artifact.version), formatAgo(artifact.replacedUs), printable(artifact.replacedBy)]
      : []),
    isReference(artifact) ? `→ ${printable(artifact.uri)}` : printable(artifact.mediaType),
  ]);
  return table(
    [
      { title: "NAME", shrink: true, minWidth: 12 },
      ...(hasSteps ? [{ title: "STEP", align: "right" as const }] : []),
      { title: "KIND" },
      { title: "SIZE", align: "right" },
      { title: "AGE", align: "right" },
      { title: "BY" },
      ...(areReplaced
        ? [
            { title: "VERSION", align: "right" as const },
            { title: "REPLACED", align: "right" as const },
            { title: "BY" },
          ]
        : []),
      { title: "TYPE", shrink: true, minWidth: 8 },
    ],
    rows,
    { colour: cli.colour, columns: tableWidth(cli) },
  );
}

export function jsonArtifact(artifact: Artifact): Record<string, unknown> {
  const { name, step, kind, uri, sha256, sizeBytes, mediaType, metadata, createdUs, createdBy } = artifact;
  return {
    name,
    step,
    kind: wordOf(ArtifactKind, kind),
    place: isReference(artifact) ? "reference" : "stored",
    ...(isReference(artifact) && { uri }),
    ...(sha256 !== "" && { sha256 }),
    sizeBytes,
    mediaType,
    metadata: jsonParams(metadata),
    created: isoTime(createdUs),
    createdBy,
    ...(artifact.version > 0n && {
      version: artifact.version,
      replaced: isoTime(artifact.replacedUs),
      replacedBy: artifact.replacedBy,
    }),
  };
}
