import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { ENV_TORCHX_TRACKERS } from "./api.ts";
import { PythonConfig } from "./python-config.ts";
import { messageOf } from "./report-problem.ts";
import {
  trackerConfigEnvVarName,
  type TrackerChoice,
  type TrackerEnvironment,
} from "./trackers-from-environ.ts";

const CONFIG_FILE = ".torchxconfig";
const ENV_TORCHXCONFIG = "TORCHXCONFIG";

/** Files of settings: $TORCHXCONFIG alone if it is set (empty for none at all), else those of home and of the folder. */
export async function findTorchxConfigs({
  env = process.env,
  cwd = process.cwd(),
}: TrackerEnvironment = {}): Promise<string[]> {
  const named = env[ENV_TORCHXCONFIG];
  if (named === "") return [];
  if (named !== undefined) {
    const found = await stat(named).catch(() => undefined);
    if (found?.isFile() !== true) {
      throw new Error(`cannot use ${ENV_TORCHXCONFIG} "${named}": it does not exist or is not a file`);
    }
    return [named];
  }
  const candidates = [homeOf(env), cwd].map((dir) => join(dir, CONFIG_FILE));
  const found = await Promise.all(
    candidates.map((path) =>
      stat(path).then(
        (it) => it.isFile(),
        () => false,
      ),
    ),
  );
  return candidates.filter((_, i) => found[i]);
}

/** A process in a container may have no home at all; then nothing is found there. */
function homeOf(env: Readonly<Record<string, string | undefined>>): string {
  if (env["HOME"]) return env["HOME"];
  try {
    return homedir();
  } catch {
    return "/nonexistent";
  }
}

/**
 * The sections `[prefix:name]` of all files, by name. Where files disagree, the first one wins, so that what is
 * set at home overrides what is set in a project. Throws, and names the file, for one that Python would refuse.
 */
async function readTorchxSections(
  prefix: string,
  environment: TrackerEnvironment = {},
): Promise<Map<string, Map<string, string>>> {
  const sections = new Map<string, Map<string, string>>();
  for (const path of await findTorchxConfigs(environment)) {
    try {
      mergeSections(sections, prefix, PythonConfig.parse(await readText(path)));
    } catch (thrown) {
      throw new Error(`cannot read "${path}": ${messageOf(thrown)}`, { cause: thrown });
    }
  }
  return sections;
}

function mergeSections(
  sections: Map<string, Map<string, string>>,
  prefix: string,
  config: PythonConfig,
): void {
  for (const section of config.sections()) {
    const divider = section.indexOf(":");
    if (divider <= 0 || divider === section.length - 1 || section.slice(0, divider) !== prefix) continue;
    const name = section.slice(divider + 1);
    const merged = sections.get(name) ?? new Map<string, string>();
    sections.set(name, merged);
    for (const [key, value] of config.items(section)) if (!merged.has(key)) merged.set(key, value);
  }
}

/** As Python opens a text: UTF-8 or an error, and a byte order mark is a character like others. */
async function readText(path: string): Promise<string> {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await readFile(path));
}

/**
 * The trackers a launcher would use: those TORCHX_TRACKERS names, else the keys of `[torchx:tracker]`. The value of a key
 * is its factory, and the key itself where that is empty; TorchX looks at keys alone. The config of one
 * is TORCHX_TRACKER_<NAME>_CONFIG, else `config` of `[tracker:<name>]`.
 */
export async function configuredTrackers(
  environment: TrackerEnvironment = {},
): Promise<Map<string, TrackerChoice>> {
  const env = environment.env ?? process.env;
  const listed =
    (await readTorchxSections("torchx", environment)).get("tracker") ?? new Map<string, string>();
  const configs = await readTorchxSections("tracker", environment);
  const names = env[ENV_TORCHX_TRACKERS]?.split(",") ?? [...listed.keys()];
  return new Map(
    names.map((name) => {
      const config = env[trackerConfigEnvVarName(name)] ?? configs.get(name)?.get("config") ?? null;
      return [name, { factory: listed.get(name) || name, config }];
    }),
  );
}
