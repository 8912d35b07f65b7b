import { findServer, type FoundServer } from "../../login.ts";
import type { CaptureOptions } from "../../run/init-options.ts";
import type { ReportProblem } from "../api.ts";
import { reportToConsole } from "../report-problem.ts";
import { readCaptures } from "./job-run.ts";

/** A server and a namespace on it, from the one text that TorchX passes to a tracker. */
export interface CairnConfig {
  server: FoundServer;
  /** "" when neither the text nor the environment names one. */
  namespace: string;
  /** How long one call of a tracker may take in all. */
  timeoutMs: number | undefined;
  /** What is captured inside a job. */
  capture: boolean | CaptureOptions;
  /** Where what is captured waits for the server, where that is not the usual place. */
  spool: string | undefined;
}

export interface ConfigContext {
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called for options that are ignored. */
  report?: ReportProblem | undefined;
}

const SHAPE = "write it as http://HOST:4700/NAMESPACE";
const WAIT_S_MIN = 0.1;
const WAIT_S_MAX = 60;
/** `end` is for the Python client, which is given the same text. */
const OPTIONS = ["wait_s", "base", "spool", "end", "capture"];
const SECRET = /token|password|key|secret|auth/i;

/**
 * `http://host:4700/langtech/asr?wait_s=5&base=/cairn`. The path is the namespace, else CAIRN_NAMESPACE; `base` is the path a
 * proxy has put before the server. The token comes from CAIRN_TOKEN, CAIRN_TOKEN_FILE or the login file, never from
 * this text, since TorchX writes it to its log. Without a text the server is that of CAIRN_SERVER, of the login file,
 * or of this machine. Throws for an invalid address.
 */
export async function readCairnConfig(
  config: string | null,
  { env = process.env, report = reportToConsole }: ConfigContext = {},
): Promise<CairnConfig> {
  const text = config?.trim() ?? "";
  const fromEnv = env["CAIRN_NAMESPACE"] ?? "";
  if (text === "") {
    const server = await findServer({}, env);
    return { server, namespace: fromEnv, timeoutMs: undefined, capture: true, spool: undefined };
  }
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new Error(`cannot use config "${cut(text)}": it is not a URL; ${SHAPE}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(
      "cannot use a config with a password in it: it would be logged; use CAIRN_TOKEN or CAIRN_TOKEN_FILE",
    );
  }
  for (const name of url.searchParams.keys()) {
    const fault = optionFault(name);
    if (fault !== undefined) report(`option "${name}" of the tracker config is ignored: ${fault}`);
  }
  const server = await findServer({ server: url.origin + (url.searchParams.get("base") ?? "") }, env);
  return {
    server,
    namespace: namespaceOf(url, text) || fromEnv,
    timeoutMs: timeoutOf(url, report),
    capture: readCaptures(url.searchParams.get("capture"), report),
    spool: url.searchParams.get("spool") || undefined,
  };
}

function optionFault(name: string): string | undefined {
  if (OPTIONS.includes(name)) return undefined;
  if (!SECRET.test(name)) return `it is not one of ${OPTIONS.join(", ")}`;
  return "TorchX writes the config to its log, so a secret there is known. Revoke it, and use CAIRN_TOKEN or CAIRN_TOKEN_FILE";
}

function namespaceOf(url: URL, config: string): string {
  try {
    return decodeURIComponent(url.pathname.replaceAll(/^\/+|\/+$/g, ""));
  } catch {
    throw new Error(`cannot use config "${cut(config)}": its path is not percent-encoded UTF-8`);
  }
}

function timeoutOf(url: URL, report: ReportProblem): number | undefined {
  const text = url.searchParams.get("wait_s");
  if (text === null) return undefined;
  const seconds = text === "" ? NaN : Number(text);
  if (Number.isNaN(seconds)) {
    report(`option "wait_s" of the tracker config is ignored: "${cut(text)}" is not a number of seconds`);
    return undefined;
  }
  return 1_000 * Math.min(WAIT_S_MAX, Math.max(WAIT_S_MIN, seconds));
}

function cut(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
