import { lookup, lookupService } from "node:dns/promises";
import { hostname, userInfo } from "node:os";
import { hasReason } from "./mlflow-error.ts";
import type { MLflowRest } from "./mlflow-rest.ts";
import type { MLflowExperiment } from "./mlflow-types.ts";

const NAME_LOOKUP_MS_MAX = 3_000;
type Environment = Readonly<Record<string, string | undefined>>;

/** `default-experiment/<user>/<full name of this host>`, as TorchX has it. */
export async function defaultExperimentName(env: Environment = process.env): Promise<string> {
  return `default-experiment/${userName(env)}/${await fullHostName()}`;
}

function userName(env: Environment): string {
  for (const variable of ["LOGNAME", "USER", "LNAME", "USERNAME"]) if (env[variable]) return env[variable];
  try {
    return userInfo().username;
  } catch {
    // In a container a user may have a number and no name.
    return String(process.getuid?.() ?? "unknown");
  }
}

async function fullHostName(): Promise<string> {
  const short = hostname();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(short), NAME_LOOKUP_MS_MAX);
  });
  try {
    return await Promise.race([askForFullName(short), late]);
  } catch {
    return short;
  } finally {
    clearTimeout(timer);
  }
}

async function askForFullName(short: string): Promise<string> {
  const { address } = await lookup(short);
  const { hostname: full } = await lookupService(address, 0);
  // A host without a name is answered with its address.
  return full === address ? short : full;
}

/** The experiment of that name; ranks that make it at once all get the one that was first. */
export async function getOrCreateExperiment(
  rest: MLflowRest,
  name: string,
  artifactLocation: string | null,
): Promise<MLflowExperiment> {
  const found = await findExperiment(rest, name);
  if (found !== undefined) return found;
  try {
    await rest.call("experiments/create", {
      name,
      ...(artifactLocation !== null && { artifact_location: artifactLocation }),
    });
  } catch (thrown) {
    // Another rank, or our own first attempt of which no answer came.
    if (!hasReason(thrown, "RESOURCE_ALREADY_EXISTS")) throw thrown;
  }
  const made = await findExperiment(rest, name);
  if (made === undefined)
    throw new Error(`cannot find experiment "${name}": it was deleted while it was made`);
  return made;
}

async function findExperiment(rest: MLflowRest, name: string): Promise<MLflowExperiment | undefined> {
  try {
    const { experiment } = await rest.call<{ experiment: MLflowExperiment }>(
      "experiments/get-by-name",
      { experiment_name: name },
      { method: "GET" },
    );
    if (experiment.lifecycle_stage === "deleted") {
      throw new Error(
        `cannot use experiment "${name}": it was deleted; restore it with \`mlflow experiments restore -x ${experiment.experiment_id}\`, or choose another name`,
      );
    }
    return experiment;
  } catch (thrown) {
    if (hasReason(thrown, "RESOURCE_DOES_NOT_EXIST")) return undefined;
    throw thrown;
  }
}
