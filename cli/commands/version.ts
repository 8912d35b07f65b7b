import type { Command } from "commander";
import { VERSION } from "#server/version.ts";
import type { Cli } from "../cli.ts";
import { isoTime, formatAgo } from "#lang/words/times.ts";
import { printable } from "../output/text.ts";
import { isCompatible } from "../compatible.ts";
import { explain } from "../explain.ts";

const SERVER_MS_MAX = 3_000;

export default function add(command: Command, cli: Cli): void {
  command
    .option("--client", "only of this program: ask no server")
    .addHelpText(
      "after",
      `
Examples:
  cairn version
  cairn version --client
  cairn --version --json`,
    )
    .action(async (options: { client?: boolean }) => {
      const client = { version: VERSION, node: process.versions.node, api: "cairn.v1" };
      const server = options.client === true ? undefined : await askServer(cli);
      if (cli.options.json === true) {
        cli.printJson({ client, ...(server && { server }) });
        return;
      }
      cli.print(`cairn   ${client.version} (node ${client.node}, API ${client.api})`);
      if (server === undefined) return;
      if ("problem" in server) cli.print(`server  ${printable(server.problem)}`);
      else {
        const engines = Object.entries(server.engines).map(([what, engine]) => `${what} ${engine}`);
        const since = formatAgo(server.startedUs);
        cli.print(`server  ${printable(server.version)} at ${server.url}, started ${since}`);
        cli.print(`        ${printable(engines.join(", "))}, format ${server.formatVersion}`);
        if (!server.compatible)
          cli.print("        it is not compatible with this client: see `cairn doctor`");
      }
    });
}

/** The version of this program is printed even if no server answers. */
async function askServer(cli: Cli) {
  let url = "";
  try {
    const server = await cli.connect();
    url = server.url;
    const info = await server.system.getInfo({}, { timeoutMs: SERVER_MS_MAX });
    return {
      url,
      version: info.version,
      startedUs: info.startedUs,
      started: isoTime(info.startedUs),
      engines: info.engines,
      formatVersion: info.formatVersion,
      compatible: isCompatible(VERSION, info.version),
    };
  } catch (thrown) {
    return { url, problem: (await explain(thrown, url, cli.env))?.message ?? "" };
  }
}
