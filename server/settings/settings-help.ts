import { nearest } from "#base/nearest.ts";
import { readFileSync } from "node:fs";
import { fileKeyOf, flagOf, SETTING_ROWS, variableOf } from "#server/settings/setting-table.ts";

const EXAMPLES = `Examples:
  npm start                              on this machine only, data in ~/.cairn
  npm start -- --data memory: --port 0   nothing on disk, any free port
  npm start -- --host :: --tls-cert c.pem --tls-key k.pem --public-url https://cairn.example.org
  CAIRN_DATA=/var/lib/cairn npm start -- --config /etc/cairn.toml`;

const ORDER = `Flags override the environment, the environment the file, the file the defaults. The file is TOML: the one
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
  return `Usage: npm start -- [flags]\n\nStarts the Cairn server.\n\n${lines.join("\n")}\n\n${ORDER}\n\n${EXAMPLES}\n`;
}

export function versionText(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const version = (manifest as { version?: unknown }).version;
  return `cairn ${String(version)} (node ${process.versions.node})\n`;
}

/** A hint for an error; undefined when nothing is close. */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  const word = nearest(written, known);
  return word === undefined ? undefined : `Did you mean ${word}?`;
}
