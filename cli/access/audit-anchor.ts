import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { AuditEntry } from "#proto/cairn/v1/access_pb.ts";
import { eachPage } from "#sdk/pages.ts";
import type { SignedAuditHead } from "#server/audit/audit-file.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { printable } from "../output/text.ts";
import { formatTime } from "#lang/words/times.ts";
import { parseCount } from "../parse-count.ts";

const PAGE = 1_000;

/** Keeping the audit, or only its head, outside the server. */
export function addAuditAnchor(audit: Command, cli: Cli): void {
  audit
    .command("export")
    .description("every entry as a line of JSON, oldest first")
    .option("--since <number>", "only entries after this one", parseCount(0), 0)
    .addHelpText(
      "after",
      `
Examples:
  cairn access audit export > audit.jsonl
  cairn access audit export --since 1200 >> audit.jsonl`,
    )
    .action(({ since }: { since: number }) => exportAudit(cli, since));
  audit
    .command("verify")
    .description(
      "recompute the chain of hashes of an exported file, without a server; exits with 1 if it is broken",
    )
    .argument("<file>", "as `export` wrote it")
    .option("--head <file>", "also check that the file contains the entry of this head")
    .addHelpText("after", "\nExamples:\n  cairn access audit verify audit.jsonl --head head.json")
    .action((file: string, options: { head?: string }) => verifyFile(cli, file, options.head));
  audit
    .command("head")
    .description("length and last hash of the audit, signed by the server, to be stored elsewhere")
    .addHelpText("after", "\nExamples:\n  cairn access audit head > head.json")
    .action(async () => {
      const { headLine } = await import("#server/audit/audit-file.ts");
      cli.print(headLine(await getHead(cli)));
    });
  audit
    .command("check")
    .description("check that the server's audit still contains a saved head; exits with 1 if not")
    .argument("<file>", "as `head` wrote it")
    .addHelpText("after", "\nExamples:\n  cairn access audit check head.json")
    .action((file: string) => checkHead(cli, file));
}

async function exportAudit(cli: Cli, since: number): Promise<void> {
  const server = await cli.connect();
  const asked = { after: BigInt(since), pageSize: PAGE };
  const pages = eachPage((pageToken) =>
    server.access.listAudit({ ...asked, pageToken }, { signal: cli.interrupted }),
  );
  for await (const { entries } of pages) for (const entry of entries) cli.print(lineOf(entry));
}

async function verifyFile(cli: Cli, file: string, headFile: string | undefined): Promise<void> {
  const { checkAuditFile } = await import("#server/audit/audit-file.ts");
  const head = headFile === undefined ? undefined : await readHead(headFile);
  const input = createReadStream(file);
  const checked = await checkAuditFile(createInterface({ input, crlfDelay: Infinity }), head).catch(
    (thrown: unknown) => {
      throw unreadable(file, thrown);
    },
  );
  const { first, last, problems } = checked;
  const ok = problems.length === 0;
  if (!ok) cli.endWith(EXIT.failed);
  if (cli.options.json === true) cli.printJson({ ok, first, last, problems });
  else if (!ok) for (const problem of problems) cli.print(printable(problem));
  else {
    cli.print(`The file is intact: entries ${first} to ${last}, none altered or removed.`);
    if (first > 1) cli.note(`entry ${first} itself can be checked only with the entry before it`);
  }
}

async function checkHead(cli: Cli, file: string): Promise<void> {
  const kept = await readHead(file);
  const server = await cli.connect();
  const now = await getHead(cli);
  const problem = await problemOf(kept, now.count, async () => {
    const { entries } = await server.access.listAudit({ after: BigInt(kept.count) - 1n, pageSize: 1 });
    return entries[0]?.hash;
  });
  const sameServer = kept.server === now.server;
  if (problem !== undefined) cli.endWith(EXIT.failed);
  if (cli.options.json === true) {
    cli.printJson({ ok: problem === undefined, problem: problem ?? null, sameServer, entries: now.count });
    return;
  }
  const signed = `by server ${kept.server} at ${formatTime(BigInt(kept.timeUs))}`;
  cli.print(problem ?? `The audit still holds entry ${kept.count} as it was signed ${signed}.`);
  if (!sameServer) cli.note(`this server signs as ${now.server}: the head was signed by another one`);
}

async function problemOf(
  kept: SignedAuditHead,
  count: number,
  hashOf: () => Promise<string | undefined>,
): Promise<string | undefined> {
  if (kept.count === 0) return undefined;
  if (kept.count > count)
    return `The audit has ${count} entries, but entry ${kept.count} was signed: its end was cut off.`;
  if ((await hashOf()) === kept.hash) return undefined;
  return `Entry ${kept.count} has another hash than was signed: the audit was written again.`;
}

async function getHead(cli: Cli): Promise<SignedAuditHead> {
  const server = await cli.connect();
  const { count, hash, timeUs, server: id, publicKey, signature } = await server.access.getAuditHead({});
  return { count: Number(count), hash, timeUs: Number(timeUs), server: id, publicKey, signature };
}

async function readHead(file: string): Promise<SignedAuditHead> {
  const { parseHead } = await import("#server/audit/audit-file.ts");
  try {
    return parseHead(await readFile(file, "utf8"));
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
}

function unreadable(file: string, thrown: unknown): CommandError {
  const { code, message } = thrown as NodeJS.ErrnoException;
  const exitCode = code === "ENOENT" ? EXIT.notFound : EXIT.failed;
  return new CommandError(`cannot use "${printable(file)}": ${message}`, { exitCode });
}

function lineOf(entry: AuditEntry): string {
  const { principal, token, address, action, target, facts, hash } = entry;
  const number = Number(entry.number);
  return JSON.stringify({
    number,
    time_us: Number(entry.timeUs),
    principal,
    token,
    address,
    action,
    target,
    facts,
    hash,
  });
}
