import { Code } from "@connectrpc/connect";
import { PrincipalKind, type WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import type { FoundServer } from "#sdk/login.ts";
import { Failure } from "#sdk/failure.ts";
import { VERSION } from "#server/version.ts";
import { isCompatible } from "../compatible.ts";
import { PASSWORD_TOKEN } from "../keep-login.ts";
import { printable } from "../output/text.ts";
import { formatAgo, formatDuration } from "#lang/words/times.ts";
import { bad, ok, warn, type Finding } from "./finding.ts";

const CALL_MS_MAX = 5_000;
/** A Date header has whole seconds, and the answer is under way for a while. */
const CLOCK_WARN_S = 5;
const CLOCK_BAD_S = 60;
const EXPIRES_WARN_S = 3 * 86_400;
/** A token given for a password lives for 12 hours anyway. */
const LOGIN_EXPIRES_WARN_S = 3_600;

/** The server that commands would talk to. The other checks are skipped when it does not answer. */
export async function checkServer(
  server: Cairn,
  by: FoundServer["by"],
  env: NodeJS.ProcessEnv,
): Promise<Finding[]> {
  const before = Date.now();
  let answer: Response;
  let body: string;
  try {
    // Without a credential: a token that is refused would hide whether the server is well.
    answer = await fetch(`${server.url}/readyz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
    body = await answer.text();
  } catch (thrown) {
    return [unreachable(Failure.from(thrown, server.url).message, server.url, by, env)];
  }
  const now = (before + Date.now()) / 2;
  if (!body.startsWith('{"status":')) {
    const what = `${server.url} answers, but it is not a Cairn server (HTTP ${answer.status})`;
    return [bad("server", what, "check the address: --server, CAIRN_SERVER, or `cairn login --list`")];
  }
  const ready = answer.ok
    ? ok("server", `${server.url} is ready`)
    : bad(
        "server",
        `${server.url} is not ready: ${printable(body)}`,
        "check its log and its disk, then restart it",
      );
  const clock = checkClock(answer.headers.get("date"), now);
  return [ready, clock, await checkCredential(server), await checkVersion(server)];
}

function unreachable(message: string, url: string, by: FoundServer["by"], env: NodeJS.ProcessEnv): Finding {
  // No server is set yet, so nothing is wrong.
  if (by === "default") {
    return warn(
      "server",
      "none is chosen, and none runs on this machine",
      "`cairn serve` starts one here; `cairn login URL` chooses another",
    );
  }
  const proxy = proxyOf(url, env);
  if (proxy !== undefined) {
    return bad(
      "server",
      message,
      `requests go to the proxy of ${proxy}: check it, or add the host to NO_PROXY`,
    );
  }
  return bad(
    "server",
    message,
    "start one with `cairn serve`, or name another with --server or CAIRN_SERVER",
  );
}

/** The variable with the proxy that Node uses for the address; it uses one only if it is asked to. */
function proxyOf(url: string, env: NodeJS.ProcessEnv): string | undefined {
  if (env["NODE_USE_ENV_PROXY"] !== "1") return undefined;
  const names = url.startsWith("https:") ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  return names.find((name) => env[name]);
}

export function checkClock(dateHeader: string | null, nowMs: number): Finding {
  const theirs = Date.parse(dateHeader ?? "");
  if (Number.isNaN(theirs)) return ok("clock", "the server sends no Date header");
  // The header is cut to the second: on average half a second early.
  const ahead = (nowMs - (theirs + 500)) / 1000;
  const off = Math.abs(ahead);
  if (off < CLOCK_WARN_S) return ok("clock", "in sync with the server");
  const text = `this machine is ${formatDuration(off)} ${ahead > 0 ? "ahead of" : "behind"} the server`;
  const fix = "set the clocks by NTP: `timedatectl set-ntp true`";
  return off < CLOCK_BAD_S ? warn("clock", text, fix) : bad("clock", text, fix);
}

async function checkCredential(server: Cairn): Promise<Finding> {
  let who: WhoAmIResponse;
  try {
    who = await server.access.whoAmI({}, { timeoutMs: CALL_MS_MAX });
  } catch (thrown) {
    const { code, message } = Failure.from(thrown, server.url);
    const fix = code === Code.Unauthenticated ? `cairn login ${server.url}` : "check the server's log";
    return bad("credential", printable(message), fix);
  }
  const { principal, token } = who;
  const name = printable(principal?.name ?? "");
  if (principal?.kind === PrincipalKind.ANONYMOUS) {
    return bad("credential", "the server asks for a token, and there is none", `cairn login ${server.url}`);
  }
  if (token === undefined || token.expiresUs === 0n) return ok("credential", name);
  const left = Number(token.expiresUs) / 1e6 - Date.now() / 1000;
  const text = `${name}, token "${printable(token.name)}" expires ${formatAgo(token.expiresUs)}`;
  const isShort = left < (token.name === PASSWORD_TOKEN ? LOGIN_EXPIRES_WARN_S : EXPIRES_WARN_S);
  if (!isShort) return ok("credential", text);
  const fix =
    token.name === PASSWORD_TOKEN
      ? `cairn login ${server.url} --user ${name}`
      : `cairn token create | cairn login ${server.url} --token-stdin`;
  return warn("credential", text, fix);
}

async function checkVersion(server: Cairn): Promise<Finding> {
  try {
    const { version } = await server.system.getInfo({}, { timeoutMs: CALL_MS_MAX });
    if (version === VERSION) return ok("version", `${VERSION}, the same as the server`);
    const text = `this is ${VERSION}, the server ${printable(version)}`;
    const fix = "install the same version on both sides (in a checkout: `git pull && npm ci`)";
    return isCompatible(VERSION, version) ? warn("version", text, fix) : bad("version", text, fix);
  } catch (thrown) {
    const { code, message } = Failure.from(thrown, server.url);
    // A missing permission has been reported already.
    if (code === Code.Unauthenticated || code === Code.PermissionDenied) return ok("version", VERSION);
    return bad("version", printable(message), "check the server's log");
  }
}
