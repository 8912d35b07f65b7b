import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterEach, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { runCairn, useTerminal } from "./testing/cairn.ts";

const CHUNK_ENVELOPES = 12n;

async function fill(client: Cairn, name: string, seqs: readonly bigint[]): Promise<string> {
  const { run } = await client.runs.createRun({ namespace: "v", name });
  for (const seq of seqs) {
    const lost = seq === 5n ? [{ first: 3n, last: 4n }] : [];
    const series = [{ key: "loss", steps: [seq], values: [Number(seq) / 10] }];
    await client.metrics.writeEnvelope({ run: { id: run!.id }, writer: "rank-0", seq, series, lost });
  }
  return run!.id;
}

/** So many points that the server has packed some of them into chunks. */
async function fillChunks(client: Cairn, name: string): Promise<void> {
  const { run } = await client.runs.createRun({ namespace: "v", name });
  const values = Array.from({ length: 100_000 }, (_, i) => Math.sin(i));
  for (let seq = 1n; seq <= CHUNK_ENVELOPES; seq++) {
    const steps = values.map((_, i) => seq * 100_000n + BigInt(i));
    const series = [{ key: "loss", steps, values }];
    await client.metrics.writeEnvelope({ run: { id: run!.id }, writer: "w", seq, series });
  }
}

describe("cairn verify", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;

  it("T11 reports per writer how many of its envelopes are stored", async () => {
    await fill(terminal.client, "whole", [1n, 2n, 3n]);
    const { code, stdout } = await cairn(["verify", "whole"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^✓ whole \([0-9a-f]{16}\): 3 of 3 envelopes, 0 gaps, 3 points read back\n {2}writer +envelopes +gaps +declared lost +last\n {2}rank-0 +3 of 3 +0 +0 +/,
    );
  });

  it("T11 exits with 1 when a writer declared envelopes lost", async () => {
    const id = await fill(terminal.client, "lossy", [1n, 2n, 5n]);
    const { code, stdout } = await cairn(["verify", "lossy"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ lossy /);
    expect(stdout).toMatch(/rank-0 +3 of 5 +0 +3–4 /);
    const json = await cairn(["verify", "whole", "lossy", "--json"]);
    expect(json.code).toBe(1);
    expect(json.json()).toMatchObject({
      ok: false,
      runs: [
        { ok: true, writers: [{ envelopes: 3, lastSeq: 3, gaps: [] }] },
        { ok: false, run: id, writers: [{ lost: [{ first: 3, last: 4 }] }] },
      ],
    });
  });

  it("T11 checks all that match a query, and everything", async () => {
    const { code, stdout } = await cairn(["verify", "--query", 'name = "whole"', "-n", "v"]);
    expect(code).toBe(0);
    expect(stdout).toContain("✓ whole");
    const all = await cairn(["verify", "--all"]);
    expect(all.stdout).toMatch(/^✓ 2 runs and 6 points read, nothing is damaged\n$/);
    expect(await cairn(["verify", "--all", "whole"])).toMatchObject({ code: 2 });
    expect(await cairn(["verify"])).toMatchObject({ code: 2 });
  });
});

describe("cairn verify of a damaged store", () => {
  const folders: string[] = [];
  let server: ChildServer | undefined;
  const stop = async () => {
    server?.child.kill("SIGKILL");
    await server?.exited;
  };
  afterEach(async () => {
    await stop();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** Fills a server, changes its file behind its back, and starts it again; gives the command line beside it. */
  const damage = async (
    fillIt: (client: Cairn) => Promise<void>,
    change: (db: DatabaseSync, runKey: (name: string) => SQLInputValue) => void,
  ) => {
    const data = makeFolder();
    folders.push(data);
    server = await startChild(["--data", data]);
    await fillIt(new Cairn({ url: server.url }));
    await stop();
    const db = new DatabaseSync(join(data, "cairn.db"));
    change(db, (name) => db.prepare("SELECT key FROM run WHERE name = ?").get(name)!["key"]!);
    db.close();
    server = await startChild(["--data", data]);
    const env = { HOME: data, CAIRN_SERVER: server.url };
    return (...words: string[]) => runCairn(["verify", ...words], { env });
  };

  it("T11 names missing envelopes, and exits with 1", async () => {
    const verify = await damage(
      async (client) => {
        await fill(client, "damaged", [1n, 2n, 3n]);
        await fill(client, "missing", [1n, 2n, 3n]);
      },
      (db, runKey) => {
        const change = "UPDATE log SET body = zeroblob(length(body)) WHERE run = ? AND seq = 2";
        db.prepare(change).run(runKey("damaged"));
        db.prepare("DELETE FROM log WHERE run = ? AND seq = 2").run(runKey("missing"));
      },
    );
    const one = await verify("damaged");
    expect(one.stdout).toMatch(/^✗ damaged .*\n(?:.*\n)+.*damaged/);
    expect(one.code).toBe(1);
    const gap = await verify("missing", "--json");
    expect(gap.code).toBe(1);
    expect(gap.json()).toMatchObject({
      ok: false,
      runs: [{ writers: [{ gaps: [{ first: 2, last: 2 }] }] }],
    });
    const all = await verify("--all");
    expect(all.code).toBe(1);
    expect(all.stdout).toMatch(/^✗ /);
  });

  it("T11 names damage although no envelope is missing, and exits with 1", async () => {
    const verify = await damage(
      (client) => fillChunks(client, "folded"),
      (db) => {
        const { changes } = db.prepare("UPDATE chunk SET body = zeroblob(length(body))").run();
        expect(changes).toBeGreaterThan(0);
      },
    );
    const { code, stdout } = await verify("folded");
    expect(stdout).toMatch(/^✗ folded .* 0 gaps/);
    expect(code).toBe(1);
  });
});
