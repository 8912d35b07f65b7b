import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PythonConfig } from "../python-config.ts";
import { messageOf } from "../report-problem.ts";
import { MLflowTracker } from "./mlflow-tracker.ts";

const SECTION = "tracker:mlflow";
const ENV_EXPERIMENT_NAME = "TORCHX_TRACKING_EXPERIMENT_NAME";
const KEYS = ["experiment_name", "tracking_uri", "artifact_location"] as const;

/**
 * `config` is the address of a server, or as for TorchX's own tracker a folder with a .torchxconfig whose section
 * `[tracker:mlflow]` may have experiment_name, tracking_uri and artifact_location. The experiment that the launcher
 * names in TORCHX_TRACKING_EXPERIMENT_NAME wins.
 */
export async function createMLflowTracker(
  config: string | null,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<MLflowTracker> {
  const isAddress = config !== null && /^[a-z][a-z0-9+.-]+:/i.test(config);
  const settings =
    config === null || config === "" || isAddress ? new Map<string, string>() : await readSettings(config);
  return new MLflowTracker(
    env[ENV_EXPERIMENT_NAME] || settings.get("experiment_name") || null,
    isAddress ? config : settings.get("tracking_uri") || null,
    settings.get("artifact_location") || null,
    { env },
  );
}

async function readSettings(folder: string): Promise<Map<string, string>> {
  const path = join(folder, ".torchxconfig");
  try {
    const config = PythonConfig.parse(await readFile(path, "utf8"));
    const found = new Map<string, string>();
    if (!config.sections().includes(SECTION)) return found;
    for (const [key, value] of config.items(SECTION)) {
      // TorchX keeps this one for itself.
      if (key === "config") continue;
      if (!(KEYS as readonly string[]).includes(key)) {
        throw new Error(`[${SECTION}] has "${key}", and only ${KEYS.join(", ")} are known`);
      }
      found.set(key, value);
    }
    return found;
  } catch (thrown) {
    throw new Error(`cannot use tracker config "${folder}": ${path}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}
