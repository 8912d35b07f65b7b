import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { errorOf } from "#wire/connect/testing/raw-call.ts";
import { clientsOf, type Clients } from "#wire/connect/testing/ways.ts";
import { useServer } from "../testing/servers.ts";

/** Patterns that take exponential time in a backtracking engine, and patterns of the largest allowed size. */
const EVIL = [
  "^(a+)+$",
  "(a|aa)+$",
  "(a*)*b",
  "([a-zA-Z]+)*$",
  "(x+x+)+y",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)x$",
  "[a-z]{0,900}[0-9]$",
  "(a?){300}b$",
  "(?i)(a|b|ab){0,400}c$",
  "(.{0,30}){20}$",
  `${"(a|".repeat(100)}b${")".repeat(100)}$`,
];
/** Far more than any of it may take. */
const HANGS = { timeoutMs: 20_000 };

describe("S11 patterns of a hostile client", () => {
  const server = useServer();
  let clients: Clients;
  let run: { id: string };

  beforeAll(async () => {
    clients = clientsOf(createGrpcTransport({ baseUrl: server().listening.url }));
    const long = "a".repeat(limits.tagValueBytesMax);
    for (let at = 0; at < 100; at++) {
      const { run: made } = await clients.runs.createRun({
        name: `${"a".repeat(400)}${at}`,
        tags: { t: `${long.slice(10)}${at}` },
        notes: at === 0 ? "a".repeat(limits.notesBytesMax) : "",
      });
      run = { id: made!.id };
    }
    // Twenty thousand names, each nearly as long as it may be.
    for (let part = 0; part < 4; part++) {
      const series = Array.from({ length: 5_000 }, (_, at) => ({
        key: `${"a".repeat(490)}${part * 5_000 + at}`,
        values: [1],
      }));
      await clients.metrics.writeEnvelope({ run, series });
    }
    await clients.metrics.writeEnvelope({
      run,
      log: [{ lines: Array.from({ length: 200 }, () => "a".repeat(60_000)) }],
    });
  });

  /** Either it works, or it is refused with a reason; and meanwhile others are served. */
  async function isBounded(call: Promise<unknown>): Promise<void> {
    const healthy = clients.runs.getRun({ run }, HANGS);
    const outcome = await errorOf(call).catch(() => undefined);
    if (outcome !== undefined) {
      expect(["DeadlineExceeded", "InvalidArgument"]).toContain(outcome.code);
      expect(outcome.message).not.toContain("the operation timed out");
    }
    expect((await healthy).id).toBe(run.id);
  }

  it.each(EVIL)("S11 %s in a search of runs", async (pattern) => {
    for (const field of ["name", "notes", "tags.t"]) {
      await isBounded(clients.runs.searchRuns({ query: `${field} ~ \`${pattern}\`` }, HANGS));
    }
  });

  it.each(EVIL)("S11 %s in a list of twenty thousand metric names", async (regex) => {
    await isBounded(clients.metrics.listSeries({ run, regex }, HANGS));
  });

  it.each(EVIL)("S11 %s in a search of log lines", async (regex) => {
    await isBounded(clients.logs.searchLog({ run, regex }, HANGS));
  });

  it("S11 globs and likes of many stars", async () => {
    const stars = "*a".repeat(100);
    await isBounded(clients.metrics.listSeries({ run, glob: `${stars}b` }, HANGS));
    await isBounded(clients.runs.searchRuns({ query: `tags.t like "${"%a".repeat(100)}b"` }, HANGS));
  });

  it("S11 usual patterns find what they should", async () => {
    const { run: made } = await clients.runs.createRun({});
    const own = { id: made!.id };
    const series = Array.from({ length: 2_000 }, (_, at) => ({ key: `layer/${at}/loss`, values: [1] }));
    await clients.metrics.writeEnvelope({ run: own, series });
    const { totalCount } = await clients.metrics.listSeries({ run: own, regex: "/19\\d\\d/" }, HANGS);
    expect(Number(totalCount)).toBe(100);
    const found = await clients.runs.searchRuns({ query: 'name ~ "a9\\\\d$"' }, HANGS);
    expect(Number(found.totalCount)).toBe(10);
  });
});
