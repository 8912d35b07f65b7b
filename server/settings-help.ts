import { readFileSync } from "node:fs";
import { fileKeyOf, flagOf, SETTING_ROWS, variableOf } from "#server/setting-table.ts";

const EXAMPLES = `Examples:
  cairn                                       on this machine only, data in ~/.cairn
  cairn --data memory: --port 0               nothing on disk, any free port
  cairn --host :: --tls-cert c.pem --tls-key k.pem --public-url https://cairn.example.org
  CAIRN_DATA=/var/lib/cairn cairn --config /etc/cairn.toml`;

const ORDER = `Flags win over the environment, that over the file, that over the defaults. The file is TOML: the one
named by --config or CAIRN_CONFIG, else cairn.toml in the data folder if it is there.`;

export function helpText(): string {
  const rows = SETTING_ROWS.map((row) => ({
    usage: row.value === undefined ? flagOf(row) : `${flagOf(row)} ${row.value}`,
    help: row.help,
    more: `${variableOf(row)}, ${fileKeyOf(row)}; default: ${row.fallback}`,
  }));
  const others = [
    { usage: "--config FILE", help: "Settings file (TOML).", more: "CAIRN_CONFIG" },
    { usage: "--help", help: "Print this.", more: "" },
    { usage: "--version", help: "Print the version.", more: "" },
  ];
  const all = [...rows, ...others];
  const width = Math.max(...all.map((line) => line.usage.length)) + 2;
  const lines = all.flatMap(({ usage, help, more }) => {
    const first = `  ${usage.padEnd(width)}${help}`;
    return more === "" ? [first] : [first, `  ${"".padEnd(width)}  [${more}]`];
  });
  return `Usage: cairn [flags]\n\nStarts the Cairn server.\n\n${lines.join("\n")}\n\n${ORDER}\n\n${EXAMPLES}\n`;
}

export function versionText(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const version = (manifest as { version?: unknown }).version;
  return `cairn ${String(version)} (node ${process.versions.node})\n`;
}

/** "Did you mean …?" when one of the known words is close to what was written. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const scored = known.map((word) => ({ word, distance: editDistance(written, word) }));
  scored.sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  const close = best !== undefined && best.distance <= Math.max(2, Math.floor(written.length / 3));
  return close ? `Did you mean ${best.word}?` : undefined;
}

function editDistance(a: string, b: string): number {
  if (a.length > 64) return Infinity;
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const change = above[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      line.push(Math.min(change, above[column]! + 1, line[column - 1]! + 1));
    }
    above = line;
  }
  return above[b.length]!;
}
