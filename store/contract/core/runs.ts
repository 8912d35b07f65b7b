import { expect, it } from "vitest";
import { isRunId } from "#base/run-id.ts";
import { limits } from "#lang/limits.ts";
import type { Caller } from "#core/access/caller.ts";
import type { SearchRuns } from "#core/runs/runs.ts";
import { asked, buildCore, CALLER, NO_CREDENTIAL } from "../core-under-test.ts";
import { appendOne, envelope, NOW_US, numbers, refused, useStores, type OpenStores } from "../stores.ts";

const SECOND_US = 1_000_000;

function search(request: Partial<SearchRuns> = {}): SearchRuns {
  return { query: "", namespace: "", trashed: false, pageSize: 0, pageToken: "", columns: [], ...request };
}

export function coreRunsContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under);

  it("assigns an id, a name, a namespace and a start to a new run", async () => {
    const { runs } = await core();
    const { run, created } = await runs.create(CALLER, asked());
    expect(created).toBe(true);
    expect(isRunId(run.id)).toBe(true);
    expect(run).toMatchObject({
      namespace: "default",
      status: "running",
      startedUs: NOW_US,
      endedUs: undefined,
    });
    expect(run.name).toBe(`run-${run.id.slice(-8)}`);
    const scheduled = await runs.create(CALLER, asked({ status: "scheduled" }));
    expect(scheduled.run).toMatchObject({ startedUs: undefined });
    const failed = await runs.create(CALLER, asked({ status: "failed", startedUs: 5 }));
    expect(failed.run).toMatchObject({ startedUs: 5, endedUs: NOW_US });
  });

  it("U207, U208, U209, U210: names the principals whose calls they were", async () => {
    const { runs, ingest } = await core();
    const as = (name: string): Caller => ({ ...CALLER, principal: { kind: "user", name } });
    const { run } = await runs.create(as("ada"), asked());
    const ref = { by: "id", id: run.id } as const;
    const parts = { run: ref, writer: "w", series: [], lost: [] };
    await ingest.write(as("bob"), { ...parts, seq: 1, change: { tags: new Map([["a", "b"]]) } });
    await ingest.write(as("eve"), { ...parts, seq: 2, change: { status: "finished" } });
    await runs.delete(as("dan"), ref);
    const who = { creator: "ada", changedBy: "bob", endedBy: "eve", deletedBy: "dan" };
    expect(await runs.get(CALLER, ref)).toMatchObject(who);
    await runs.update(as("fay"), ref, { notes: "n" });
    expect(await runs.restore(as("eve"), ref)).toMatchObject({ ...who, changedBy: "fay", deletedBy: "" });
    const ended = await runs.create(as("ada"), asked({ status: "failed" }));
    expect(ended.run).toMatchObject({ creator: "ada", endedBy: "ada", changedBy: "" });
  });

  it("U2 requires an alias to get or create by", async () => {
    const { runs } = await core();
    await expect(runs.create(CALLER, asked({ getOrCreate: true }))).rejects.toEqual(refused("invalid"));
    const share = asked({ getOrCreate: true, aliases: ["job", "job"] });
    const [a, b] = await Promise.all([runs.create(CALLER, share), runs.create(CALLER, share)]);
    expect(a.run.id).toBe(b.run.id);
    expect(a.run.aliases).toEqual(["job"]);
  });

  it("V8 stores params as canonical text and refuses invalid JSON", async () => {
    const { runs } = await core();
    const params = new Map([["a", ' { "b" : 1.0 , "a" : [ 9007199254740993 ] } ']]);
    const { run } = await runs.create(CALLER, asked({ params }));
    expect(run.params.get("a")).toBe('{"a":[9007199254740993],"b":1.0}');
    const bad = runs.create(CALLER, asked({ params: new Map([["a", "{"]]) }));
    await expect(bad).rejects.toEqual(refused("invalid"));
    await expect(
      runs.update(CALLER, { by: "id", id: run.id }, { params: new Map([["", "1"]]) }),
    ).rejects.toEqual(refused("invalid"));
  });

  it("refuses texts, tags and aliases over their limits", async () => {
    const { runs } = await core();
    const tooLong = "x".repeat(limits.nameBytesMax + 1);
    for (const request of [
      asked({ name: tooLong }),
      asked({ notes: "x".repeat(limits.notesBytesMax + 1) }),
      asked({ tags: new Map([["a", "x".repeat(limits.tagValueBytesMax + 1)]]) }),
      asked({ aliases: ["x".repeat(limits.aliasBytesMax + 1)] }),
      asked({ aliases: Array.from({ length: limits.aliasesPerRunMax + 1 }, (_, i) => `a${i}`) }),
    ]) {
      await expect(runs.create(CALLER, request)).rejects.toEqual(refused("exhausted", "LIMIT_EXCEEDED"));
    }
    for (const request of [
      asked({ aliases: [""] }),
      asked({ name: "\ud800" }),
      asked({ namespace: "a//b" }),
      asked({ startedUs: 0.5 }),
    ]) {
      await expect(runs.create(CALLER, request)).rejects.toEqual(refused("invalid"));
    }
    expect(await bench.engine.info()).toMatchObject({ runs: 0 });
  });

  it("U1 names the candidates when an alias is ambiguous, and finds the run when it is unique", async () => {
    const { runs } = await core();
    const make = async (namespace: string) =>
      (await runs.create(CALLER, asked({ namespace, aliases: ["job"] }))).run.id;
    const [a, b] = [await make("lab/a"), await make("lab/b/c")];
    const by = (namespace: string) => runs.get(CALLER, { by: "alias", alias: "job", namespace });
    const ambiguous = by("lab");
    await expect(ambiguous).rejects.toEqual(
      refused("precondition", "ALIAS_AMBIGUOUS", {
        facts: { candidates: `lab/a/${a} lab/b/c/${b}` },
        message: expect.stringContaining(`lab/b/c/${b}`) as string,
      }),
    );
    await expect(by("")).rejects.toEqual(refused("precondition", "ALIAS_AMBIGUOUS"));
    expect(await by("lab/b")).toMatchObject({ id: b });
    expect(await runs.get(CALLER, { by: "path", namespace: "lab/a", id: a })).toMatchObject({ id: a });
    await expect(by("lab/x")).rejects.toEqual(refused("not-found"));
    await expect(by("lab//x")).rejects.toEqual(refused("invalid"));
    await expect(runs.get(CALLER, { by: "path", namespace: "lab", id: a })).rejects.toEqual(
      refused("not-found"),
    );
  });

  it("U5 U6 updates, deletes, restores and purges by any reference", async () => {
    const { runs, clock } = await core();
    const { run } = await runs.create(CALLER, asked({ namespace: "lab", aliases: ["job"] }));
    const ref = { by: "alias", alias: "job", namespace: "lab" } as const;
    clock.us = NOW_US + 7;
    expect(await runs.update(CALLER, ref, { status: "finished" })).toMatchObject({ endedUs: NOW_US + 7 });
    await expect(runs.purge(CALLER, ref)).rejects.toEqual(refused("precondition", "NOT_IN_TRASH"));
    expect(await runs.delete(CALLER, ref)).toMatchObject({ id: run.id, deletedUs: NOW_US + 7 });
    expect(await runs.restore(CALLER, ref)).toMatchObject({ deletedUs: undefined });
    await runs.delete(CALLER, ref);
    expect(await runs.purge(CALLER, ref)).toEqual({ points: 0 });
    await expect(runs.get(CALLER, ref)).rejects.toEqual(refused("not-found"));
  });

  it("refuses a change with invalid values", async () => {
    const { runs } = await core();
    const { run } = await runs.create(CALLER, asked());
    const ref = { by: "id", id: run.id } as const;
    for (const change of [{ heartbeatSeconds: -1 }, { heartbeatSeconds: 0.5 }, { endedUs: 2 ** 60 }]) {
      await expect(runs.update(CALLER, ref, change)).rejects.toEqual(refused("invalid"));
    }
    const removeParams = Array.from({ length: limits.paramsPerRunMax + 1 }, () => "a");
    await expect(runs.update(CALLER, ref, { removeParams })).rejects.toEqual(refused("exhausted"));
  });

  it("U8 turns silent runs into lost ones by its clock", async () => {
    const { runs, clock } = await core();
    const { run } = await runs.create(CALLER, asked());
    await appendOne(bench.journal, envelope(run.id, 1, { change: { heartbeatSeconds: 5 } }), NOW_US);
    clock.us = NOW_US + 14 * SECOND_US;
    expect(await runs.expireHeartbeats()).toBe(0);
    clock.us = NOW_US + 16 * SECOND_US;
    expect(await runs.expireHeartbeats()).toBe(1);
    const found = await runs.search(CALLER, search({ query: 'status = "lost"' }));
    expect(found.runs.map(({ run: one }) => one.id)).toEqual([run.id]);
  });

  it("D4 Q4 finds changes acknowledged a moment ago, in pages, with the total", async () => {
    const { runs, clock } = await core();
    for (let i = 0; i < 5; i++) {
      clock.us = NOW_US + i;
      const { run } = await runs.create(CALLER, asked({ namespace: `lab/${i % 2}`, name: `r${i}` }));
      await appendOne(bench.journal, envelope(run.id, 1, { series: [numbers("loss", [i, 10 - i])] }));
      const { totalCount } = await runs.search(CALLER, search({ query: `metrics.loss.last = ${10 - i}` }));
      expect(totalCount).toBe(1);
    }
    const query = "metrics.loss.max >= 7 order by metrics.loss.first asc";
    const first = await runs.search(CALLER, search({ query, pageSize: 3 }));
    expect(first.runs.map(({ run }) => run.name)).toEqual(["r0", "r1", "r2"]);
    expect(first.totalCount).toBe(4);
    const second = await runs.search(CALLER, search({ query, pageSize: 3, pageToken: first.nextPageToken }));
    expect(second.runs.map(({ run }) => run.name)).toEqual(["r3"]);
    expect(second.nextPageToken).toBe("");
    const below = await runs.search(CALLER, search({ namespace: "lab/1" }));
    expect(below.runs.map(({ run }) => run.name)).toEqual(["r3", "r1"]);
  });

  it("fills in only the requested columns", async () => {
    const { runs } = await core();
    const { run } = await runs.create(
      CALLER,
      asked({
        aliases: ["job"],
        notes: "long",
        params: new Map([
          ["optim", '{"lr":0.1}'],
          ["seed", "1"],
        ]),
        tags: new Map([
          ["team", "asr"],
          ["x", "y"],
        ]),
      }),
    );
    await appendOne(bench.journal, envelope(run.id, 1, { series: [numbers("loss", [3, 1])] }));
    const columns = ["params.optim.lr", "tags.team", "metrics.loss.min", "metrics.none.max", "notes"];
    const [found] = (await runs.search(CALLER, search({ columns }))).runs;
    const heard = { lastHeardUs: NOW_US, heartbeatSeconds: undefined };
    expect(found!.run).toEqual({
      ...run,
      ...heard,
      aliases: [],
      notes: "long",
      params: new Map([["optim", '{"lr":0.1}']]),
      tags: new Map([["team", "asr"]]),
    });
    expect(found!.metrics).toEqual(new Map([["loss.min", 1]]));
    const [plain] = (await runs.search(CALLER, search())).runs;
    expect(plain!.run).toEqual({ ...run, ...heard, notes: "" });
    for (const page of [search({ columns: ["status"] }), search({ pageSize: -1 }), search({ query: "((" })]) {
      await expect(runs.search(CALLER, page)).rejects.toEqual(refused("invalid"));
    }
  });

  it("N1 counts runs of the whole subtree, without the trash", async () => {
    const { runs, namespaces } = await core();
    const made = [];
    for (const namespace of ["a/b", "a/b/c", "a/b/c", "ab"]) {
      made.push((await runs.create(CALLER, asked({ namespace }))).run.id);
    }
    await runs.update(CALLER, { by: "id", id: made[1]! }, { status: "finished" });
    await runs.delete(CALLER, { by: "id", id: made[2]! });
    const { namespaces: listed } = await namespaces.list(CALLER, { under: "", pageSize: 0, pageToken: "" });
    const counts = listed.map((one) => [
      one.path,
      one.runCount,
      one.subtreeRunCount,
      one.subtreeRunningCount,
    ]);
    expect(counts).toEqual([
      ["a", 0, 2, 1],
      ["a/b", 1, 2, 1],
      ["a/b/c", 1, 1, 0],
      ["ab", 1, 1, 1],
    ]);
    expect(await namespaces.get(CALLER, "a/b/c")).toMatchObject({ runCount: 1, lastActivityUs: NOW_US });
    await expect(namespaces.get(CALLER, "a/x")).rejects.toEqual(refused("not-found"));
  });

  it("N1 lists namespaces in pages, with their descriptions", async () => {
    const { namespaces, namespaceTrash } = await core();
    const objective = { metric: "loss", direction: "minimize" } as const;
    await namespaces.create(CALLER, { path: "a/b/c", description: "d", objective });
    const first = await namespaces.list(CALLER, { under: "a", pageSize: 2, pageToken: "" });
    expect(first.namespaces.map(({ path }) => path)).toEqual(["a", "a/b"]);
    const second = await namespaces.list(CALLER, { under: "a", pageSize: 2, pageToken: first.nextPageToken });
    expect(second.namespaces).toMatchObject([{ path: "a/b/c", description: "d", objective }]);
    expect(second.nextPageToken).toBe("");
    const updated = await namespaces.update(CALLER, { path: "a/b/c", objective: null });
    expect(updated).toMatchObject({ description: "d", objective: undefined });
    const bad = namespaces.update(CALLER, { path: "a", objective: { metric: "", direction: "maximize" } });
    await expect(bad).rejects.toEqual(refused("invalid"));
    for (const act of ["delete", "purge"] as const) await namespaceTrash[act](CALLER, "a/b/c");
  });

  it("requires a credential of every caller", async () => {
    const { runs, namespaces } = await core();
    const unknown = refused("unauthenticated");
    await expect(runs.create(NO_CREDENTIAL, asked())).rejects.toEqual(unknown);
    await expect(runs.get(NO_CREDENTIAL, { by: "id", id: "x" })).rejects.toEqual(unknown);
    await expect(runs.search(NO_CREDENTIAL, search())).rejects.toEqual(unknown);
    await expect(namespaces.list(NO_CREDENTIAL, { under: "", pageSize: 0, pageToken: "" })).rejects.toEqual(
      unknown,
    );
  });
}
