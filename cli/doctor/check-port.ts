import { once } from "node:events";
import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import { connect } from "node:net";
import { isHere } from "../is-here.ts";
import { printable } from "../output/text.ts";
import { bad, ok, warn, type Finding } from "./finding.ts";
import { findPortOwner } from "./port-owner.ts";

const CONNECT_MS_MAX = 2_000;
const BODY_BYTES_MAX = 4_096;

/** Whether a server could listen there, or which one does. */
export async function checkPort(host: string, port: number): Promise<Finding> {
  // This also finds a server that listens on all addresses.
  const target = host === "::" || host === "0.0.0.0" ? "127.0.0.1" : host;
  if (port === 0 || !(await isTaken(target, port))) return ok("port", `${port} is free`);
  const owner = await findPortOwner(port);
  const by = owner === undefined ? "" : ` (process ${owner.pid}: ${printable(owner.command)})`;
  if (await isCairn(target, port)) return ok("port", `${port}: a Cairn listens there${by}`);
  return bad(
    "port",
    `${port} is in use by another program${by}`,
    "stop it, or start the server on another: `cairn serve --port 4701`",
  );
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_MS_MAX) });
    return true;
  } catch (thrown) {
    // A port that accepts no connection in that time is still in use.
    return (thrown as Error).name === "AbortError";
  } finally {
    socket.destroy();
  }
}

/**
 * Every Cairn server has the same health check. Also tried over TLS, with any certificate: nothing is sent, and it is
 * made for the name of the server and not for this address. Never by a proxy.
 */
async function isCairn(host: string, port: number): Promise<boolean> {
  for (const get of [getPlain, getSecure]) {
    try {
      const text = await new Promise<string>((resolve, reject) => {
        const options = { host, port, path: "/healthz", agent: false, rejectUnauthorized: false };
        const request = get({ ...options, signal: AbortSignal.timeout(CONNECT_MS_MAX) }, (answer) => {
          let body = "";
          answer.setEncoding("utf8").on("data", (part: string) => {
            body += part;
            if (body.length > BODY_BYTES_MAX) request.destroy(new Error("too long"));
          });
          answer.on("end", () => resolve(body)).on("error", reject);
        });
        request.on("error", reject);
      });
      if (text === '{"status":"alive"}') return true;
    } catch {
      // Try the other one.
    }
  }
  return false;
}

/** Whether a token is sent unencrypted. */
export function checkTransport(url: string): Finding {
  if (url.startsWith("https:")) return ok("transport", "encrypted");
  if (isHere(url)) return ok("transport", "does not leave this machine");
  return warn(
    "transport",
    `${url} is not encrypted: tokens and data can be read on the network`,
    "use https:// (docs/operations.md, TLS)",
  );
}
