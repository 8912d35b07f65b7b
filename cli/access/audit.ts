import type { Command } from "commander";
import type { AuditEntry } from "#proto/cairn/v1/access_pb.ts";
import { eachPage } from "#sdk/pages.ts";
import { EXIT, type Cli } from "../cli.ts";
import { countOf } from "#lang/words/numbers.ts";
import { table } from "../output/table.ts";
import { printable } from "../output/text.ts";
import { formatTime, isoTime } from "#lang/words/times.ts";
import { parseCount } from "../parse-count.ts";
import { LONG_CALL } from "../long-call.ts";
import { addAuditAnchor } from "./audit-anchor.ts";
import { tableWidth } from "../runs/table-width.ts";

const PAGE_MAX = 1_000;
const LIMIT_DEFAULT = 50;
/** As `cairn token ls` shows ids. */
const TOKEN_DIGITS = 16;

interface AuditOptions {
  by?: string;
  action?: string;
  target?: string;
  limit: number;
}

export function addAudit(command: Command, cli: Cli): void {
  const audit = command
    .command("audit")
    .helpCommand(false)
    .description("who changed, replaced or deleted what, newest first; subcommands export and verify it")
    .option("--by <principal>", "only actions of this principal")
    .option("--action <word>", "only this action, such as bind-role, log-in, purge-run")
    .option("--target <text>", "only actions on this target")
    .option("--limit <n>", "how many", parseCount(1), LIMIT_DEFAULT)
    .addHelpText(
      "after",
      `
Examples:
  cairn access audit
  cairn access audit --action purge-run --by ada --json
  cairn access audit export > audit.jsonl
  cairn access audit head > head.json`,
    )
    .action(async (options: AuditOptions) => {
      const entries = await listAudit(cli, options);
      if (cli.options.json === true) {
        cli.printJson(entries.map(jsonEntry));
        return;
      }
      cli.print(
        table(
          [
            { title: "number", align: "right" },
            { title: "time" },
            { title: "who" },
            { title: "from" },
            { title: "token" },
            { title: "what" },
            { title: "to", shrink: true, minWidth: 12 },
            { title: "more", shrink: true, minWidth: 12 },
          ],
          entries.map((entry) => [
            String(entry.number),
            formatTime(entry.timeUs),
            printable(entry.principal),
            printable(entry.address),
            printable(entry.token.slice(0, TOKEN_DIGITS)),
            printable(entry.action),
            printable(entry.target),
            printable(factWords(entry)),
          ]),
          { colour: cli.colour, columns: tableWidth(cli) },
        ),
      );
    });
  addAuditAnchor(audit, cli);
  command
    .command("verify-audit")
    .description("recompute the chain of hashes; exits with 1 if an entry was altered or removed")
    .addHelpText("after", "\nExamples:\n  cairn access verify-audit")
    .action(async () => {
      const server = await cli.connect();
      const { ok, entries, problems } = await server.access.verifyAudit({}, LONG_CALL);
      if (!ok) cli.endWith(EXIT.failed);
      if (cli.options.json === true) cli.printJson({ ok, entries, problems });
      else if (ok)
        cli.print(`The audit is intact: ${countOf(entries, "entry", "entries")}, none altered or removed.`);
      else for (const problem of problems) cli.print(printable(problem));
    });
}

async function listAudit(cli: Cli, options: AuditOptions): Promise<AuditEntry[]> {
  const server = await cli.connect();
  const entries: AuditEntry[] = [];
  const pages = eachPage((pageToken) =>
    server.access.listAudit({
      principal: options.by ?? "",
      action: options.action ?? "",
      target: options.target ?? "",
      pageSize: Math.min(PAGE_MAX, options.limit - entries.length),
      pageToken,
    }),
  );
  for await (const page of pages) if (entries.push(...page.entries) >= options.limit) break;
  return entries;
}

function factWords({ facts }: AuditEntry): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

function jsonEntry(entry: AuditEntry) {
  const { number, principal, token, address, action, target, facts, hash } = entry;
  return { number, time: isoTime(entry.timeUs), principal, token, address, action, target, facts, hash };
}
