/** How this server is to run. Plain data; every path is absolute. */
export interface Settings {
  host: string;
  port: number;
  data: string;
  publicUrl?: string | undefined;
  allowedHosts: string[];
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  auth: boolean;
  insecure: boolean;
  localSecret: boolean;
  logLevel: (typeof LOG_LEVELS)[number];
  store: "sqlite";
  blobs: "fs" | "memory";
  search: "columns";
  artifactSizeMax: number;
  connectionsMax: number;
  connectionsPerAddressMax: number;
  quotaRequestsPerSecond: number;
  quotaBytesPerSecond: number;
  quotaStreams: number;
}

/** What a value must be. By hand: to load a library for it takes a twentieth of a start, before any thread begins. */
interface Check {
  /** For an error, after "expected". */
  expected: string;
  accepts(value: unknown): boolean;
}

/**
 * Every setting there is, once: its flag, its environment variable, its key in the file, its check, its
 * default and what the help says about it are all made from this table.
 */
export interface SettingRow {
  /** In the settings object; the file spells it in snake_case, the flag in kebab-case. */
  key: keyof Settings;
  /** Where the flag is not simply the key. */
  flag?: string;
  /** The placeholder for the value in the help; a switch has none. */
  value?: string;
  /** Converts text from a flag or a variable to the type in the file. */
  kind: "text" | "integer" | "switch" | "list";
  check: Check;
  /** As the help shows it. */
  fallback: string;
  help: string;
}

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isHostName = (value: unknown): boolean => isText(value) && /^[A-Za-z0-9_.:%-]+$/.test(value);

const port = whole(0, 65_535, "a port from 0 to 65535");
const text: Check = { expected: "text that is not empty", accepts: isText };
const hostName: Check = { expected: "a host name or an IP address, without port", accepts: isHostName };
const hostNames: Check = {
  expected: "a list of host names or IP addresses, without port",
  accepts: (value) => Array.isArray(value) && value.every(isHostName),
};
const count = whole(1, Infinity, "a whole number of at least 1");
const quota = whole(0, Infinity, "a whole number, 0 for no limit");
const onOrOff: Check = { expected: "true or false", accepts: (value) => typeof value === "boolean" };
const publicUrl: Check = {
  expected: "an address such as https://cairn.example.org/base",
  accepts: (value) => isText(value) && isPublicUrl(value),
};

const CHECKS: Readonly<Record<keyof Settings, Check>> = {
  host: hostName,
  port,
  data: text,
  publicUrl,
  allowedHosts: hostNames,
  tlsCert: text,
  tlsKey: text,
  auth: onOrOff,
  insecure: onOrOff,
  localSecret: onOrOff,
  logLevel: choice(LOG_LEVELS),
  store: choice(["sqlite"]),
  blobs: choice(["fs", "memory"]),
  search: choice(["columns"]),
  artifactSizeMax: count,
  connectionsMax: count,
  connectionsPerAddressMax: count,
  quotaRequestsPerSecond: quota,
  quotaBytesPerSecond: quota,
  quotaStreams: quota,
};

export const SETTING_ROWS: readonly SettingRow[] = [
  define("host", "ADDRESS", "text", "127.0.0.1", "Address to listen on; :: or 0.0.0.0 for all."),
  define("port", "PORT", "integer", "4700", "Port to listen on; 0 takes a free one."),
  define("data", "FOLDER", "text", "~/.cairn", "Where everything is kept; memory: keeps nothing on disk."),
  define("publicUrl", "URL", "text", "none", "Address under which clients reach this server."),
  {
    ...define("allowedHosts", "NAME", "list", "none", "Further name the server answers to; may be repeated."),
    flag: "allow-host",
  },
  define("tlsCert", "FILE", "text", "none", "Certificate chain (PEM). With --tls-key, the port speaks TLS."),
  define("tlsKey", "FILE", "text", "none", "Private key (PEM) of the certificate."),
  define("auth", undefined, "switch", "false", "Require a credential, also on this machine."),
  define(
    "insecure",
    undefined,
    "switch",
    "false",
    "Allow everything without a credential, also from other machines.",
  ),
  define(
    "localSecret",
    undefined,
    "switch",
    "false; true where the system does not identify callers",
    "Require the local secret also of programs of this user.",
  ),
  define("logLevel", "LEVEL", "text", "info", `One of ${LOG_LEVELS.join(", ")}.`),
  define("store", "ENGINE", "text", "sqlite", "What keeps runs and points: sqlite."),
  define("blobs", "ENGINE", "text", "fs; memory with --data memory:", "What keeps files: fs or memory."),
  define("search", "ENGINE", "text", "columns", "What answers queries over runs: columns."),
  define("artifactSizeMax", "BYTES", "integer", "107374182400", "Size of one artifact (100 GiB)."),
  define("connectionsMax", "N", "integer", "10000", "Open connections in all."),
  define("connectionsPerAddressMax", "N", "integer", "2000", "Open connections from one address."),
  define(
    "quotaRequestsPerSecond",
    "N",
    "integer",
    "20000",
    "Requests a second of one principal; 0 for no limit, here and below.",
  ),
  define("quotaBytesPerSecond", "N", "integer", "1073741824", "Bytes a second one principal may send."),
  define("quotaStreams", "N", "integer", "2000", "Streams and uploads one principal may have open."),
];

export function flagOf(row: SettingRow): string {
  return `--${row.flag ?? words(row.key, "-")}`;
}

export function variableOf(row: SettingRow): string {
  return `CAIRN_${words(row.flag ?? row.key, "_")
    .replaceAll("-", "_")
    .toUpperCase()}`;
}

export function fileKeyOf(row: SettingRow): string {
  return words(row.key, "_");
}

function define(
  key: keyof Settings,
  value: string | undefined,
  kind: SettingRow["kind"],
  fallback: string,
  help: string,
): SettingRow {
  const base = { key, kind, check: CHECKS[key], fallback, help };
  return value === undefined ? base : { ...base, value };
}

function whole(min: number, max: number, expected: string): Check {
  const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);
  return { expected, accepts: (value) => isWhole(value) && value >= min && value <= max };
}

function choice(names: readonly string[]): Check {
  const expected = `${names.length > 1 ? "one of " : ""}${names.join(", ")}`;
  return { expected, accepts: (value) => names.includes(value as string) };
}

function words(camel: string, joiner: string): string {
  return camel.replace(/[A-Z]/g, (letter) => joiner + letter.toLowerCase());
}

function isPublicUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  const plain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return plain && (url.protocol === "http:" || url.protocol === "https:");
}
