import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Option, type Command } from "commander";
import { flagOf, SETTING_ROWS, variableOf } from "#server/settings/setting-table.ts";
import { readCommand } from "#server/settings/settings.ts";
import { EXIT, type Cli } from "../cli.ts";

const START = fileURLToPath(new URL("../../server/start.js", import.meta.url));
/** What `npm start` runs first. An installed package has the pages and not this. */
const BUILD = join(fileURLToPath(new URL("../..", import.meta.url)), "web", "build-pages.js");
/** What `npm start` gives to Node. */
const NODE_FLAGS = [
  "--max-semi-space-size=8",
  "--initial-old-space-size=128",
  "--no-allocation-site-pretenuring",
  "--expose-gc",
];

/** The server parses the flags; here they are only listed for the help, and passed on unchanged. */
export default function add(command: Command, cli: Cli): void {
  for (const row of SETTING_ROWS) {
    const flags = row.value === undefined ? flagOf(row) : `${flagOf(row)} <${row.value.toLowerCase()}>`;
    command.addOption(new Option(flags, `${row.help} [${variableOf(row)}; default: ${row.fallback}]`));
  }
  command
    .option("--config <file>", "Settings file (TOML). [CAIRN_CONFIG]")
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText(
      "after",
      `
Flags override variables, variables the file, the file the defaults; see docs/operations.md.

Examples:
  cairn serve                                  on this machine only, data in ~/.cairn
  cairn serve --data memory: --port 0          nothing on disk, any free port
  cairn serve --host :: --tls-cert c.pem --tls-key k.pem --public-url https://cairn.example.org`,
    )
    .action(async () => {
      const words = [...NODE_FLAGS, START, ...cli.words];
      const { surroundings } = cli;
      if (isStart(cli) && existsSync(BUILD))
        spawnSync(process.execPath, [BUILD], { stdio: ["ignore", "inherit", "inherit"] });
      // The server takes the place of this process, so that signals reach the server itself.
      if (surroundings.execve === undefined) await serveInChild(cli, words);
      else surroundings.execve(process.execPath, [process.execPath, ...words], definedOnly(cli.env));
    });
}

/** Whether a server will start; it reports invalid flags itself. */
function isStart({ words, env }: Cli): boolean {
  try {
    return readCommand([...words], env).do !== "print";
  } catch {
    return false;
  }
}

/** Where a process cannot be replaced by another, as on Windows: ends as the server ends. */
async function serveInChild(cli: Cli, words: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, words, { env: cli.env, stdio: "inherit" });
  // Ctrl-C reaches the server from the terminal; reading this makes the command wait for the server instead of ending first.
  void cli.interrupted;
  cli.surroundings.on("SIGTERM", () => child.kill("SIGTERM"));
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) cli.endWith(EXIT.failed);
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}
