import { Code } from "@connectrpc/connect";
import { ArtifactKind, ArtifactPlace, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { eachPage } from "#sdk/pages.ts";
import { CommandError, EXIT } from "../cli.ts";
import { cut, printable } from "../output/text.ts";

const PAGE = 1_000;

/** All artifacts of a run whose names begin with `prefix`, in the order of the server. */
export async function* listArtifacts(
  server: Cairn,
  runId: string,
  prefix: string,
  kind: ArtifactKind = ArtifactKind.UNSPECIFIED,
  replaced = false,
): AsyncGenerator<Artifact> {
  const request = { run: { id: runId }, prefix, kind, replaced, pageSize: PAGE };
  const pages = eachPage((pageToken) => server.artifacts.listArtifacts({ ...request, pageToken }));
  for await (const { artifacts } of pages) yield* artifacts;
}

export interface Choice {
  artifact: Artifact;
  /** Named itself, not found below a folder. */
  named: boolean;
  /** Relative to the target, with "/". */
  fileName: string;
}

export interface ChooseOptions {
  step?: bigint | undefined;
  allSteps: boolean;
  /** Everything the run has. */
  all: boolean;
}

/**
 * What `names` mean: an artifact of that very name, else everything below the folder of that name. If it has several
 * steps: the requested one, all of them, or the server's default: the one without a step, or else the last.
 */
export async function chooseArtifacts(
  server: Cairn,
  runId: string,
  names: readonly string[],
  options: ChooseOptions,
): Promise<Choice[]> {
  const choices: Choice[] = [];
  if (options.all) choices.push(...(await below(server, runId, "", options)));
  for (const name of names) {
    const exact = name.endsWith("/") ? [] : await called(server, runId, name, options);
    const found =
      exact.length > 0 ? exact : await below(server, runId, `${name.replace(/\/+$/, "")}/`, options);
    if (found.length === 0) {
      const at = options.step === undefined ? "" : ` at step ${options.step}`;
      throw new CommandError(
        `cannot find artifact "${printable(cut(name, 200))}"${at}: the run has none of that name`,
        {
          exitCode: EXIT.notFound,
          hint: `\`cairn artifacts ls ${runId}\` lists its artifacts`,
        },
      );
    }
    choices.push(...found);
  }
  const once = new Map(choices.map((choice) => [choice.fileName, choice]));
  return [...once.values()];
}

export function isReference({ place }: Artifact): boolean {
  return place === ArtifactPlace.REFERENCE;
}

async function called(
  server: Cairn,
  runId: string,
  name: string,
  { step, allSteps }: ChooseOptions,
): Promise<Choice[]> {
  if (allSteps) {
    const found: Choice[] = [];
    for await (const artifact of listArtifacts(server, runId, name)) {
      if (artifact.name === name) found.push({ artifact, named: true, fileName: steppedName(artifact) });
    }
    return found;
  }
  try {
    const artifact = await server.artifacts.getArtifact({
      run: { id: runId },
      name,
      ...(step !== undefined && { step }),
    });
    return [{ artifact, named: true, fileName: name }];
  } catch (thrown) {
    const { code } = Failure.from(thrown);
    // An invalid artifact name may still be a folder, such as one with "/" at its end.
    if (code === Code.NotFound || code === Code.InvalidArgument) return [];
    throw thrown;
  }
}

async function below(
  server: Cairn,
  runId: string,
  prefix: string,
  { step, allSteps }: ChooseOptions,
): Promise<Choice[]> {
  const chosen = new Map<string, Choice>();
  for await (const artifact of listArtifacts(server, runId, prefix)) {
    if (step !== undefined && artifact.step !== step) continue;
    const fileName = allSteps ? steppedName(artifact) : artifact.name;
    // By name, then by step: one without a step comes first and stays, else the last one wins.
    if (chosen.get(fileName)?.artifact.step === undefined && chosen.has(fileName)) continue;
    chosen.set(fileName, { artifact, named: false, fileName });
  }
  return [...chosen.values()];
}

/** `samples/a.png` of step 7 as `samples/a.step-7.png`. */
function steppedName({ name, step }: Pick<Artifact, "name" | "step">): string {
  if (step === undefined) return name;
  const slash = name.lastIndexOf("/") + 1;
  const dot = name.lastIndexOf(".");
  const end = dot > slash ? dot : name.length;
  return `${name.slice(0, end)}.step-${step}${name.slice(end)}`;
}
