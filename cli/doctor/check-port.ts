import { once } from "node:events";
import { connect } from "node:net";
import { isHere } from "../is-here.ts";
import { printable } from "../output/text.ts";
import { bad, ok, warn, type Finding } from "./finding.ts";
import { findPortOwner } from "./port-owner.ts";

const CONNECT_MS_MAX = 2_000;
const BODY_BYTES_MAX = 4_096;

/** Whether a server could listen there, or which one does. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  // Whoever listens everywhere is met here.
  const target = host === "::" || host === "0.0.0.0" ? "127.0.0.1" : host;
  if (port === 0 || !(await isTaken(target, port))) return ok("port", `${port} is free`);
  const owner = await findPortOwner(port);
  const by = owner === undefined ? "" : ` (process ${owner.pid}: ${printable(owner.command)})`;
  if (await isCairn(target, port)) return ok("port", `${port}: a Cairn listens there${by}`);
  return bad(
    "port",
    `${port} is taken by something that is no Cairn${by}`,
    "stop it, or start the server on another: `cairn serve --port 4701`",
  );
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_MS_MAX) });
    return true;
  } catch (thrown) {
    // Something that takes no connection in that time is there all the same.
    return (thrown as Error).name === "AbortError";
  } finally {
    socket.destroy();
  }
}

/** Every Cairn has the same sign of life. One that speaks TLS is asked in that way. */
async function isCairn(host: string, port: number): Promise<boolean> {
  const name = host.includes(":") ? `[${host}]` : host;
  for (const scheme of ["http", "https"]) {
    try {
      const answer = await fetch(`${scheme}://${name}:${port}/healthz`, {
        redirect: "manual",
        signal: AbortSignal.timeout(CONNECT_MS_MAX),
      });
      const text = (await answer.text()).slice(0, BODY_BYTES_MAX);
      if (text === '{"status":"alive"}') return true;
    } catch {
      // Not in this way.
    }
  }
  return false;
}

/** A token that travels in the open. */
export function checkTransport(url: string): Finding {
  if (url.startsWith("https:")) return ok("transport", "encrypted");
  if (isHere(url)) return ok("transport", "does not leave this machine");
  return warn(
    "transport",
    `${url} is not encrypted: tokens and data can be read on the way`,
    "use https:// (docs/operations.md, TLS)",
  );
}
