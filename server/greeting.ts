import type { Administrator } from "#core/access/administrators.ts";
import type { Server } from "./serve.ts";
import { isInClear, MEMORY, type Settings } from "./settings/settings.ts";

type Started = Pick<Server, "newToken" | "linkSecret" | "administrators" | "localSecret"> & {
  listening: { url: string };
};

/** Hosts that mean all addresses of the machine. */
const EVERYWHERE: ReadonlySet<string> = new Set(["", "::", "0.0.0.0"]);

type GreetedSettings = Pick<Settings, "data" | "insecure" | "host" | "publicUrl" | "tlsCert">;

/** The messages of a start. */
export function greeting(server: Started, settings: GreetedSettings): string {
  const { listening, newToken, linkSecret, administrators, localSecret } = server;
  const address = settings.publicUrl?.replace(/\/+$/, "") ?? listening.url;
  const lines = [
    `Cairn is listening on ${listening.url}`,
    settings.data === MEMORY
      ? "Nothing is written to disk: all data is lost when it stops."
      : `Data: ${settings.data}`,
  ];
  if (settings.insecure) lines.push("Anyone who can reach this address has all permissions (--insecure).");
  if (isInClear(settings)) {
    lines.push("WARNING: without TLS, tokens and data are sent unencrypted and can be read on the network.");
    lines.push(
      "Give --tls-cert and --tls-key, or put a proxy with TLS in front and give --public-url https://….",
    );
  }
  if (newToken !== undefined) {
    lines.push(`Admin token, shown only once: ${newToken}`);
    lines.push(...waysIn(address, linkSecret));
    if (address === listening.url && EVERYWHERE.has(settings.host)) {
      lines.push("From other machines, replace localhost by the address of this one.");
    }
    lines.push(
      "Use it to make another token (`cairn token create`) or a password: then it ends, at the latest in 7 days.",
    );
  }
  if (localSecret !== undefined) {
    lines.push(`To open the pages as the owner: ${listening.url}/login#${localSecret}`);
    lines.push("The link works on this machine until the server stops. Keep it to yourself.");
  }
  if (administrators.length > 0) lines.push(...review(administrators));
  return `${lines.join("\n")}\n`;
}

/** How to use the first token, at the address by which people reach this server. */
function waysIn(address: string, linkSecret: string | undefined): string[] {
  const lines = [`  in a terminal: cairn login ${address}`];
  if (linkSecret !== undefined) {
    lines.push(`  in a browser: ${address}/login#${linkSecret}`);
    lines.push("`cairn login` asks for the token. The link works once, within an hour: keep it to yourself.");
  }
  return lines;
}

function review(administrators: readonly Administrator[]): string[] {
  const rows = administrators.map(({ name, kind, createdUs, group, tokens, tokensEndUs }) => {
    const through = group === undefined ? "" : `, through group ${group}`;
    const end = tokensEndUs === undefined ? "never" : dayOf(tokensEndUs);
    const ends = tokens === 0 ? "" : `, the last expires ${tokensEndUs === undefined ? end : `on ${end}`}`;
    return `  ${name} (${kind}${through}), made on ${dayOf(createdUs)}: ${tokens} ${tokens === 1 ? "token" : "tokens"}${ends}`;
  });
  return [
    "This server has been used without tokens. Now it requires one, and these are its administrators:",
    ...rows,
    "Check them: `cairn access user disable NAME` disables one. Without an administrator's token, stop the",
    "server and start it on 127.0.0.1 without --auth: then `cairn` on this machine needs none.",
  ];
}

function dayOf(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString().slice(0, 10);
}
