import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { parse as parseToml, TomlError } from "smol-toml";
import { CairnError, quote } from "#lang/errors.ts";
import { isLoopbackHost } from "#server/listen/guard.ts";
import {
  fileKeyOf,
  flagOf,
  SETTING_ROWS,
  type SettingRow,
  type Settings,
  variableOf,
} from "#server/settings/setting-table.ts";
import { didYouMean, helpText, versionText } from "#server/settings/settings-help.ts";

export type { Settings };

/** `data` of a server that writes no file at all. */
export const MEMORY = "memory:";

/** Whether clients reach the server by https: it speaks TLS itself, or a proxy in front does. */
export function isHttps({ publicUrl, tlsCert }: Pick<Settings, "publicUrl" | "tlsCert">): boolean {
  return tlsCert !== undefined || (publicUrl !== undefined && new URL(publicUrl).protocol === "https:");
}

/** Whether data and tokens are sent over a network without TLS. */
export function isInClear(settings: Pick<Settings, "host" | "publicUrl" | "tlsCert">): boolean {
  if (isHttps(settings)) return false;
  const { host, publicUrl } = settings;
  const name = publicUrl === undefined ? host : new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, "$1");
  return !isLoopbackHost(host) || !isLoopbackHost(name);
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type Command = { do: "serve"; settings: Settings } | { do: "print"; text: string };

/** A value and where it came from, in words for an error. */
interface Given {
  value: unknown;
  origin: string;
}

/** Parses the command line. Throws `invalid` naming the invalid flag, variable or key. */
export function readCommand(argv: readonly string[], env: Environment): Command {
  if (argv.includes("--help") || argv.includes("-h")) return { do: "print", text: helpText() };
  if (argv.includes("--version")) return { do: "print", text: versionText() };
  return { do: "serve", settings: readSettings(argv, env) };
}

/** undefined for a user who has none, such as any user id in a container. */
export function findHome(env: Environment): string | undefined {
  if (env["HOME"]) return env["HOME"];
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}

/** Flags override the environment, the environment the file, the file the defaults. */
export function readSettings(argv: readonly string[], env: Environment): Settings {
  const flags = readFlags(argv);
  const variables = readVariables(env);
  const configFile = flags.get("config") ?? variables.get("config");
  const dataGiven = flags.get("data") ?? variables.get("data");
  const home = findHome(env);
  const file = readFile(configFile, dataGiven, home);
  const given = new Map([...file, ...variables, ...flags]);
  const values: Record<string, unknown> = { ...DEFAULTS };
  for (const row of SETTING_ROWS) {
    const one = given.get(row.key);
    if (one !== undefined) values[row.key] = check(row, one);
  }
  for (const key of ["data", "tlsCert", "tlsKey"]) {
    const path = values[key];
    if (typeof path === "string") values[key] = absolute(path, home);
  }
  values["blobs"] ??= values["data"] === MEMORY ? "memory" : "fs";
  // Each value is a default or was checked.
  const settings = values as unknown as Settings;
  checkTogether(settings, given);
  return settings;
}

const DEFAULTS: Partial<Settings> = {
  host: "127.0.0.1",
  port: 4700,
  data: "~/.cairn",
  allowedHosts: [],
  auth: false,
  insecure: false,
  localSecret: false,
  logLevel: "info",
  store: "sqlite",
  search: "columns",
  artifactSizeMax: 100 * 2 ** 30,
  connectionsMax: 10_000,
  connectionsPerAddressMax: 2_000,
  quotaRequestsPerSecond: 20_000,
  quotaBytesPerSecond: 1 << 30,
  quotaStreams: 2_000,
};

function absolute(path: string, home: string | undefined): string {
  if (path === MEMORY) return path;
  if (!/^~(\/|$)/.test(path)) return resolve(path);
  if (home !== undefined) return resolve(home, `.${path.slice(1)}`);
  throw refusal(`cannot use ${quote(path)}: this user has no home directory`, {
    hint: "Set HOME, or give a path without ~ (--data FOLDER).",
  });
}

function readFlags(argv: readonly string[]): Map<string, Given> {
  const given = new Map<string, Given>();
  for (let index = 0; index < argv.length; index += 1) {
    const argument = argv[index]!;
    if (!argument.startsWith("-")) {
      throw refusal(`cannot use argument ${quote(argument)}: only flags are taken`);
    }
    const equals = argument.indexOf("=");
    const flag = equals < 0 ? argument : argument.slice(0, equals);
    const inline = equals < 0 ? undefined : argument.slice(equals + 1);
    const row = SETTING_ROWS.find((known) => flagOf(known) === flag);
    if (row === undefined && flag !== "--config") throw unknownFlag(flag);
    if (row?.kind === "switch") {
      put(given, row.key, fromText(row, inline ?? "true"), flag);
      continue;
    }
    const text = inline ?? argv[(index += 1)];
    if (text === undefined || (inline === undefined && text.startsWith("--"))) {
      throw refusal(`cannot use ${flag}: its value is missing`);
    }
    if (row === undefined) put(given, "config", text, flag);
    else put(given, row.key, fromText(row, text), flag);
  }
  return given;
}

/** The last one wins, except that lists grow. */
function put(given: Map<string, Given>, key: string, value: unknown, origin: string): void {
  const before = given.get(key)?.value;
  given.set(key, { value: Array.isArray(before) ? before.concat(value) : value, origin });
}

function readVariables(env: Environment): Map<string, Given> {
  const given = new Map<string, Given>();
  const config = env["CAIRN_CONFIG"];
  if (config !== undefined && config !== "") given.set("config", { value: config, origin: "CAIRN_CONFIG" });
  for (const row of SETTING_ROWS) {
    const name = variableOf(row);
    const text = env[name];
    if (text === undefined || text === "" || isServiceLink(name, text)) continue;
    given.set(row.key, { value: fromText(row, text), origin: name });
  }
  return given;
}

/** Kubernetes sets CAIRN_PORT=tcp://10.0.0.1:4700 in every pod beside a Service named "cairn". */
function isServiceLink(name: string, text: string): boolean {
  return name === "CAIRN_PORT" && text.startsWith("tcp://");
}

/** Invalid text is returned unchanged, for the check to refuse. */
function fromText(row: SettingRow, text: string): unknown {
  switch (row.kind) {
    case "text":
      return text;
    case "integer":
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case "switch":
      return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
    case "list":
      return text.split(",").map((part) => part.trim());
  }
}

function readFile(
  config: Given | undefined,
  data: Given | undefined,
  home: string | undefined,
): Map<string, Given> {
  const path = config === undefined ? fileInData(data, home) : absolute(String(config.value), home);
  if (path === undefined) return new Map();
  const table = parseFile(path, config?.origin);
  const given = new Map<string, Given>();
  for (const [key, value] of Object.entries(table)) {
    const row = SETTING_ROWS.find((known) => fileKeyOf(known) === key);
    if (row === undefined) {
      throw refusal(`cannot use key ${quote(key)} in ${quote(path)}: unknown setting`, {
        hint: didYouMean(key, SETTING_ROWS.map(fileKeyOf)),
      });
    }
    if (config === undefined && row.key === "data") {
      throw refusal(`cannot use key "data" in ${quote(path)}: this file is already in the data folder`);
    }
    given.set(row.key, { value, origin: `key ${quote(key)} in ${quote(path)}` });
  }
  return given;
}

function fileInData(data: Given | undefined, home: string | undefined): string | undefined {
  const folder = data === undefined ? DEFAULTS.data : data.value;
  // Anything but text is refused later, with its origin.
  if (typeof folder !== "string" || folder === MEMORY) return undefined;
  const path = join(absolute(folder, home), "cairn.toml");
  return existsSync(path) ? path : undefined;
}

function parseFile(path: string, origin: string | undefined): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const hint = origin === undefined ? undefined : `The file was named by ${origin}.`;
    throw refusal(`cannot read settings file ${quote(path)}: ${(cause as Error).message}`, { cause, hint });
  }
  try {
    return parseToml(text);
  } catch (cause) {
    const where = cause instanceof TomlError ? ` at line ${cause.line}, column ${cause.column}` : "";
    const what = (cause as Error).message.split("\n", 1)[0]!;
    throw refusal(`cannot read settings file ${quote(path)}${where}: ${what}`, { cause });
  }
}

function check(row: SettingRow, given: Given): unknown {
  const { value, origin } = given;
  if (row.check.accepts(value)) return value;
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  throw refusal(`cannot use ${origin} with ${quote(shown)}: expected ${row.check.expected}`);
}

function checkTogether(settings: Settings, given: ReadonlyMap<string, Given>): void {
  const origin = (key: string): string => given.get(key)?.origin ?? key;
  if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined)) {
    const [has, lacks] = settings.tlsKey === undefined ? ["tlsCert", "--tls-key"] : ["tlsKey", "--tls-cert"];
    throw refusal(`cannot use ${origin(has)}: TLS needs a certificate and its key`, {
      hint: `Add ${lacks}.`,
    });
  }
  if (settings.auth && settings.insecure) {
    throw refusal(`cannot use ${origin("insecure")}: ${origin("auth")} requires a credential of everybody`);
  }
  if (settings.data === MEMORY && settings.blobs === "fs") {
    throw refusal(`cannot use ${origin("blobs")} with "fs": ${origin("data")} "memory:" writes no file`);
  }
}

function unknownFlag(flag: string): CairnError {
  const known = [...SETTING_ROWS.map(flagOf), "--config", "--help", "--version"];
  return refusal(`cannot use flag ${quote(flag)}: unknown flag`, { hint: didYouMean(flag, known) });
}

function refusal(message: string, more: { cause?: unknown; hint?: string | undefined } = {}): CairnError {
  return new CairnError("invalid", message, {
    cause: more.cause,
    hint: more.hint ?? "See --help for all settings.",
  });
}
