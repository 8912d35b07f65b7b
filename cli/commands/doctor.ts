import { InvalidArgumentError, type Command } from "commander";
import type { FoundServer } from "#sdk/login.ts";
import { EXIT, type Cli } from "../cli.ts";
import {
  checkCompileCache,
  checkLocalSecrets,
  checkLoginFile,
  checkNode,
  checkSpool,
  checkUser,
} from "../doctor/check-program.ts";
import { checkCommand, checkPythonPackage } from "../doctor/check-names.ts";
import { bad, type Finding } from "../doctor/finding.ts";
import { isHere } from "../is-here.ts";
import { hasUnicode } from "../plot/style.ts";
import { countOf } from "#lang/words/numbers.ts";
import { padEnd, paint } from "../output/text.ts";

interface DoctorOptions {
  data?: string;
  port?: string;
}

export default function add(command: Command, cli: Cli): void {
  command
    .option("--data <folder>", "the data folder of a server on this machine (also CAIRN_DATA)")
    .option("--port <port>", "its port (also CAIRN_PORT)", parsePort)
    .addHelpText(
      "after",
      `
Checks this program, the server that commands talk to, and, unless that is on another machine, what a server on this
machine needs. Exits with 1 when a check fails.

Examples:
  cairn doctor
  cairn doctor --data /srv/cairn --port 4701
  cairn doctor --json`,
    )
    .action(async (options: DoctorOptions) => {
      const findings = await examine(cli, options);
      if (findings.some(({ level }) => level === "bad")) cli.endWith(EXIT.failed);
      if (cli.options.json === true) cli.printJson(findings);
      else printFindings(cli, findings);
    });
}

async function examine(cli: Cli, options: DoctorOptions): Promise<Finding[]> {
  const findings = [
    checkNode(),
    checkCompileCache(),
    ...checkUser(cli.env),
    ...checkCommand(cli.env),
    ...(await checkPythonPackage(cli.env)),
    await checkLoginFile(cli.env),
    ...(await checkLocalSecrets(cli.env)),
    await checkSpool(cli.env),
  ];
  const found = await tryFindServer(cli);
  if ("level" in found) findings.push(found);
  const isAsked = options.data !== undefined || options.port !== undefined;
  if (isAsked || "level" in found || isHere(found.url))
    findings.push(...(await examineMachine(cli, options, "level" in found ? undefined : found)));
  if (!("level" in found)) {
    const [{ Cairn }, { checkServer }, { checkTransport }] = await Promise.all([
      import("#sdk/client.ts"),
      import("../doctor/check-server.ts"),
      import("../doctor/check-port.ts"),
    ]);
    findings.push(checkTransport(found.url), ...(await checkServer(new Cairn(found), found.by, cli.env)));
  }
  return findings;
}

async function tryFindServer(cli: Cli): Promise<FoundServer | Finding> {
  const { findServer } = await import("#sdk/login.ts");
  try {
    return await findServer(cli.options, cli.env);
  } catch (thrown) {
    return bad("server", (thrown as Error).message, "check --server, CAIRN_SERVER and CAIRN_TOKEN_FILE");
  }
}

/** Checks for a server on this machine with the current settings. */
async function examineMachine(
  cli: Cli,
  { data, port }: DoctorOptions,
  found: FoundServer | undefined,
): Promise<Finding[]> {
  const [{ MEMORY, readSettings }, { checkData }, { checkPort }] = await Promise.all([
    import("#server/settings/settings.ts"),
    import("../doctor/check-data.ts"),
    import("../doctor/check-port.ts"),
  ]);
  const flags = [
    ...(data === undefined ? [] : ["--data", data]),
    ...(port === undefined ? [] : ["--port", port]),
  ];
  try {
    const settings = readSettings(flags, cli.env);
    const onDisk = settings.data === MEMORY ? [] : await checkData(settings.data);
    // Where commands talk to a server on another port of this machine, the default port does not matter.
    const isOther =
      port === undefined && !cli.env["CAIRN_PORT"] && found !== undefined && found.by !== "default";
    const asked =
      isOther && isHere(found.url) ? Number(new URL(found.url).port) || settings.port : settings.port;
    return [...onDisk, await checkPort(settings.host, asked)];
  } catch (thrown) {
    return [bad("settings", (thrown as Error).message, "see `cairn serve --help`")];
  }
}

function printFindings(cli: Cli, findings: readonly Finding[]): void {
  const isUnicode = hasUnicode(cli.env);
  const marks = {
    ok: paint(cli.colour, "green", isUnicode ? "✓" : "+"),
    warn: paint(cli.colour, "yellow", "!"),
    bad: paint(cli.colour, "red", isUnicode ? "✗" : "x"),
  };
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, level, text, fix } of findings) {
    cli.print(`${marks[level]} ${padEnd(check, width)}  ${text}`);
    if (fix !== undefined) cli.print(`  ${" ".repeat(width)}  ${isUnicode ? "→" : "->"} ${fix}`);
  }
  const badCount = findings.filter(({ level }) => level === "bad").length;
  const warnCount = findings.filter(({ level }) => level === "warn").length;
  if (badCount + warnCount === 0) cli.print("\nNo problems found.");
  else cli.print(`\n${countOf(badCount, "fault")}, ${countOf(warnCount, "warning")}.`);
}

function parsePort(text: string): string {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return text;
  throw new InvalidArgumentError("expected a port from 0 to 65535");
}
