import type { MessageInitShape } from "@bufbuild/protobuf";
import { InvalidArgumentError, Option, type Command } from "commander";
import type { ProvenanceSchema } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { collect } from "../parse-count.ts";

/** What a person may say about how a run was made; data are references such as s3://data/c4@v3. */
export interface ProvenanceOptions {
  trainingData?: string[];
  testData?: string[];
  initialState?: string;
  featurePipeline?: string;
  study?: string;
  logsLocation?: string;
  clear?: string[];
}

/** After --clear: the fields of the API with the spelling of the options. */
const FIELDS = [
  "training-data",
  "test-data",
  "initial-state",
  "feature-pipeline",
  "study",
  "logs-location",
] as const;

export function addProvenanceOptions(command: Command): Command {
  return command
    .option(
      "--training-data <ref>",
      "data it was trained on: LOCATION or LOCATION@VERSION; may be given again",
      collect,
    )
    .option("--test-data <ref>", "data it was tested on; may be given again", collect)
    .option("--initial-state <ref>", "what its training began from, such as a checkpoint")
    .option("--feature-pipeline <ref>", "what made the features, such as REPOSITORY@COMMIT")
    .option("--study <name>", "the study it belongs to")
    .option("--logs-location <url>", "where its logs are kept outside of Cairn")
    .addOption(
      new Option("--clear <field>", "empty a field first, such as training-data; may be given again")
        .choices(FIELDS)
        .argParser(collectField),
    );
}

/** Choices alone would keep only the last of several. */
function collectField(field: string, before: readonly string[] = []): string[] {
  if ((FIELDS as readonly string[]).includes(field)) return [...before, field];
  throw new InvalidArgumentError(`must be one of ${FIELDS.join(", ")}`);
}

/** How many fields the command line sets or clears. */
export function countStated(options: ProvenanceOptions): number {
  return Object.keys(statedBy(options)).length + (options.clear?.length ?? 0);
}

/** Clears what is to be cleared, then merges the rest: texts replace, data is added. */
export async function stateProvenance(
  server: Cairn,
  runId: string,
  options: ProvenanceOptions,
): Promise<void> {
  if (countStated(options) === 0) return;
  await server.runs.updateRun({
    run: { id: runId },
    clearProvenance: (options.clear ?? []).map((field) => field.replaceAll("-", "_")),
    addProvenance: statedBy(options),
  });
}

/** Without the other options of the command. */
function statedBy(options: ProvenanceOptions): MessageInitShape<typeof ProvenanceSchema> {
  const { trainingData, testData, initialState, featurePipeline, study, logsLocation } = options;
  return {
    ...(trainingData !== undefined && { trainingData }),
    ...(testData !== undefined && { testData }),
    ...(initialState !== undefined && { initialState }),
    ...(featurePipeline !== undefined && { featurePipeline }),
    ...(study !== undefined && { study }),
    ...(logsLocation !== undefined && { logsLocation }),
  };
}
