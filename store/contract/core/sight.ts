/** A caller with few rights can neither read nor guess anything of the rest. */
import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import type { Permission } from "#core/types/permission.ts";
import { maskReadsNamespace, maskReadsRun, type ReadMask } from "#core/types/scope.ts";
import { type CairnError, toPlainError } from "#lang/errors.ts";
import type { SearchRuns } from "#core/runs/runs.ts";
import { asked, buildCore, CALLER } from "../core-under-test.ts";
import { appendOne, envelope, numbers, refused, useStores, type OpenStores } from "../stores.ts";

let masks = 0;

/** A caller that may do everything up to `maintain` within the mask, and nothing elsewhere. */
function callerIn(
  namespaces: Record<string, boolean>,
  runs: Record<string, boolean> = {},
  permission: Permission = "maintain",
): Caller {
  const mask: ReadMask = {
    id: `caller ${++masks}`,
    namespaces: new Map(Object.entries({ "": false, ...namespaces })),
    runs: new Map(Object.entries(runs)),
  };
  return {
    principal: { kind: "user", name: "ada" },
    permission,
    rights: {
      may: (wanted, { namespace, runId }) =>
        wanted !== "administer" &&
        (runId === undefined
          ? maskReadsNamespace(mask, namespace)
          : maskReadsRun(mask, { id: runId, namespace })),
      mayAnywhere: (wanted) => wanted !== "administer",
      readable: () => mask,
      hiddenArtifacts: () => new Map(),
    },
  };
}

function search(request: Partial<SearchRuns> = {}): SearchRuns {
  return { query: "", namespace: "", trashed: false, pageSize: 0, pageToken: "", columns: [], ...request };
}

const page = { under: "", pageSize: 0, pageToken: "" };

export function coreSightContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under);
  type Core = Awaited<ReturnType<typeof core>>;

  const make = async ({ runs }: Core, namespace: string, ...aliases: string[]) =>
    (await runs.create(CALLER, asked({ namespace, aliases }))).run.id;

  const refusalOf = async (call: Promise<unknown>): Promise<CairnError> => {
    const thrown: unknown = await call.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (thrown === undefined) throw new Error("the call did not fail");
    return thrown as CairnError;
  };

  it("A21 a run the caller may not see is refused with the same words as a missing one", async () => {
    const under = await core();
    const { runs, ingest, metrics, system } = under;
    const id = await make(under, "secret/deep", "job");
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    const caller = callerIn({ open: true });
    const nowhere = "0".repeat(32);
    const calls: ((ref: { by: "id"; id: string }) => Promise<unknown>)[] = [
      (ref) => runs.get(caller, ref),
      (ref) => runs.locate(caller, ref),
      (ref) => runs.update(caller, ref, { notes: "mine" }),
      (ref) => runs.delete(caller, ref),
      (ref) => runs.restore(caller, ref),
      (ref) => runs.purge(caller, ref),
      (ref) => system.verifyRun(caller, ref),
      (ref) =>
        metrics.list(caller, {
          among: { runs: [ref] },
          matchers: [],
          glob: "",
          regex: "",
          pageSize: 0,
          pageToken: "",
        }),
      (ref) =>
        metrics.read(caller, {
          series: [{ run: ref, key: "loss", labels: [] }],
          axis: "step",
          from: undefined,
          to: undefined,
          buckets: 0,
          includeReplaced: false,
          onlyReplaced: false,
          form: "bytes",
        }),
    ];
    const said = async (run: string, warm: boolean) => {
      // A run that others use is answered from memory.
      if (warm) await runs.locate(CALLER, { by: "id", id: run }).catch(() => undefined);
      const errors = [];
      for (const call of calls) {
        const { code, reason, message, hint, facts } = await refusalOf(call({ by: "id", id: run }));
        // The answer repeats the requested reference, and nothing else.
        const isNamed = facts["run"] === run;
        errors.push({
          code,
          reason,
          message: message.replace(run, "ID"),
          hint,
          facts: { ...facts, run: isNamed },
        });
      }
      return errors;
    };
    const expected = await said(nowhere, false);
    expect(expected.every(({ code }) => code === "not-found")).toBe(true);
    expect(await said(id, false)).toEqual(expected);
    expect(await said(id, true)).toEqual(expected);
    for (const ref of [
      { by: "path", namespace: "secret/deep", id },
      { by: "alias", alias: "job", namespace: "" },
      { by: "alias", alias: "job", namespace: "secret" },
    ] as const) {
      await expect(runs.get(caller, ref)).rejects.toEqual(refused("not-found"));
    }
    const write = ingest.write(caller, { ...envelope(id, 1), run: { by: "id", id } } as never);
    await expect(write).rejects.toEqual(refused("not-found"));
    expect(await runs.get(CALLER, { by: "id", id })).toMatchObject({ notes: "", deletedUs: undefined });
  });

  it("A22 hidden runs are not candidates for an alias and do not block one", async () => {
    const under = await core();
    const { runs } = under;
    for (let at = 0; at < 25; at++) await make(under, `hidden/${String(at).padStart(2, "0")}`, "job");
    const by = (caller: Caller, namespace = "") => runs.get(caller, { by: "alias", alias: "job", namespace });
    const own = await make(under, "open/z", "job");
    expect(await by(callerIn({ open: true }))).toMatchObject({ id: own });
    const other = await make(under, "open/y", "job");
    await expect(by(callerIn({ open: true }))).rejects.toEqual(
      refused("precondition", "ALIAS_AMBIGUOUS", {
        facts: { candidates: `open/y/${other} open/z/${own}` },
      }),
    );
    const one = callerIn({ open: true }, { [other]: false });
    expect(await by(one)).toMatchObject({ id: own });
    await expect(by(callerIn({ elsewhere: true }))).rejects.toEqual(refused("not-found"));
    // A caller that sees them all gets ten.
    const { facts } = await refusalOf(by(CALLER, "hidden"));
    expect(facts["candidates"]!.split(" ")).toHaveLength(10);
  });

  it("A22 the alias of a hidden run is taken, and nothing is disclosed of that run", async () => {
    const under = await core();
    const { runs } = under;
    const [a, b, c] = [
      await make(under, "open", "job-a"),
      await make(under, "open", "job-b"),
      await make(under, "open", "job-c"),
    ];
    const caller = callerIn({ open: true }, { [a]: false, [b]: false });
    const create = (getOrCreate: boolean, ...aliases: string[]) =>
      runs.create(caller, asked({ namespace: "open", aliases, getOrCreate }));
    const taken = await refusalOf(create(false, "job-a"));
    expect(taken).toMatchObject({ code: "exists", reason: "ALIAS_TAKEN", facts: {} });
    const shared = await refusalOf(create(true, "job-a"));
    expect(toPlainError(shared)).toEqual({ ...toPlainError(taken), stack: shared.stack });
    for (const aliases of [
      ["job-a", "job-b"],
      ["job-a", "job-c"],
    ]) {
      for (const getOrCreate of [false, true]) {
        const error = await refusalOf(create(getOrCreate, ...aliases));
        expect(error).toMatchObject({ code: "exists", reason: "ALIAS_TAKEN", facts: {} });
        expect(error.message + error.hint).not.toMatch(new RegExp(`${a}|${b}|${c}`));
      }
    }
    expect((await create(true, "job-c")).run.id).toBe(c);
    const add = runs.update(caller, { by: "id", id: c }, { addAliases: ["job-a"] });
    expect(await refusalOf(add)).toMatchObject({ reason: "ALIAS_TAKEN", facts: {} });
    const both = callerIn({ open: true }, { [a]: false });
    const conflict = runs.create(both, asked({ namespace: "open", aliases: ["job-b", "job-c"] }));
    await expect(conflict).rejects.toEqual(refused("precondition", "ALIAS_CONFLICT"));
  });

  it("A20 A23 lists and counts have only readable runs, and their ancestors as paths", async () => {
    const under = await core();
    const { runs, namespaces } = under;
    await namespaces.create(CALLER, { path: "top", description: "hush", objective: undefined });
    await namespaces.create(CALLER, { path: "top/empty", description: "hush", objective: undefined });
    await make(under, "top");
    await make(under, "top/secret");
    const own = await make(under, "top/mid/open");
    const closed = await make(under, "top/mid/open/deep");
    const shared = await make(under, "other/place");
    await make(under, "other/place");
    await make(under, "third");
    const caller = callerIn({ "top/mid/open": true }, { [closed]: false, [shared]: true });
    const found = await runs.search(caller, search());
    expect([found.totalCount, found.runs.map(({ run }) => run.id).sort()]).toEqual([2, [own, shared].sort()]);
    expect((await runs.search(caller, search({ namespace: "top/secret" }))).totalCount).toBe(0);
    const listed = await namespaces.list(caller, page);
    const seen = listed.namespaces.map((one) => [
      one.path,
      one.description,
      one.runCount,
      one.subtreeRunCount,
      one.createdUs > 0,
    ]);
    expect(seen).toEqual([
      ["other", "", 0, 1, false],
      ["other/place", "", 1, 1, false],
      ["top", "", 0, 1, false],
      ["top/mid", "", 0, 1, false],
      ["top/mid/open", "", 1, 1, true],
      ["top/mid/open/deep", "", 0, 0, true],
    ]);
    expect(await namespaces.get(caller, "top")).toMatchObject({ description: "", createdUs: 0 });
    for (const path of ["top/secret", "top/empty", "third", "nowhere"]) {
      expect((await refusalOf(namespaces.get(caller, path))).message).toBe(`cannot find namespace "${path}"`);
      expect((await namespaces.list(caller, { ...page, under: path })).namespaces).toEqual([]);
    }
    expect(await namespaces.get(CALLER, "top")).toMatchObject({ description: "hush", subtreeRunCount: 4 });
  });

  it("A23 pages are filled with visible rows, and no token names anything else", async () => {
    const under = await core();
    const paths = Array.from({ length: 40 }, (_, at) => `n${String(at).padStart(2, "0")}`);
    for (const path of paths) await make(under, path);
    const mine = paths.filter((_, at) => at % 7 === 3);
    const caller = callerIn(Object.fromEntries(mine.map((path) => [path, true])));
    const seen: string[] = [];
    for (let pageToken = ""; ;) {
      const listed = await under.namespaces.list(caller, { under: "", pageSize: 2, pageToken });
      seen.push(...listed.namespaces.map(({ path }) => path));
      pageToken = listed.nextPageToken;
      if (pageToken === "") break;
      expect(listed.namespaces).toHaveLength(2);
      expect(mine).toContain(pageToken);
    }
    expect(seen).toEqual(mine);
  });

  it("A21 a namespace that may not be seen is neither changed, moved, deleted, restored nor purged", async () => {
    const under = await core();
    const { namespaces, namespaceMoves, namespaceTrash } = under;
    await make(under, "lab/secret");
    const caller = callerIn({ lab: true, "lab/secret": false });
    for (const path of ["lab/secret", "nowhere"]) {
      for (const call of [
        namespaces.update(caller, { path }),
        namespaceMoves.move(caller, path, "lab/moved"),
        namespaceTrash.delete(caller, path),
        namespaceTrash.restore(caller, path),
        namespaceTrash.purge(caller, path),
      ]) {
        await expect(call).rejects.toEqual(refused("not-found"));
      }
    }
  });

  it("A24 the description of a metric key in a higher namespace is shown only to callers that may read that", async () => {
    const { metricKeys } = await core();
    const describe = (namespace: string, key: string) =>
      metricKeys.describe(CALLER, {
        namespace,
        key,
        unit: "s",
        direction: undefined,
        description: "hush",
        picture: undefined,
      });
    await describe("lab", "upper");
    await describe("lab/a", "own");
    const list = (caller: Caller, namespace: string) =>
      metricKeys.list(caller, { namespace, pageSize: 0, pageToken: "" });
    const keys = async (caller: Caller) => (await list(caller, "lab/a")).keys.map(({ key }) => key);
    expect(await keys(callerIn({ "lab/a": true }))).toEqual(["own"]);
    expect(await keys(callerIn({ lab: true }))).toEqual(["own", "upper"]);
    for (const namespace of ["lab", "nowhere"]) {
      expect(await list(callerIn({ "lab/a": true }), namespace)).toEqual({ keys: [], nextPageToken: "" });
    }
  });

  it("A21, A24 a namespace that is closed to the caller has the metric keys of a missing one", async () => {
    const { metricKeys } = await core();
    const describe = (namespace: string, key: string, unit: string) =>
      metricKeys.describe(CALLER, {
        namespace,
        key,
        unit,
        direction: undefined,
        description: "",
        picture: undefined,
      });
    await describe("lab", "loss", "nats");
    await describe("lab", "time", "s");
    await describe("lab/secret", "loss", "bits");
    await describe("lab/secret", "hush", "s");
    await describe("lab/secret/mine", "time", "ms");
    const caller = callerIn({ lab: true, "lab/secret": false, "lab/secret/mine": true });
    const list = async (namespace: string) =>
      (await metricKeys.list(caller, { namespace, pageSize: 0, pageToken: "" })).keys.map(
        ({ key, unit }) => `${key} ${unit}`,
      );
    expect(await list("lab/secret")).toEqual(["loss nats", "time s"]);
    expect(await list("lab/secret")).toEqual(await list("lab/nothing"));
    expect(await list("lab/secret/mine")).toEqual(["loss nats", "time ms"]);
  });

  it("A25 only administrators of the server see how much it holds", async () => {
    const under = await core();
    await make(under, "lab");
    const all = await under.system.info(CALLER);
    expect(all).toMatchObject({ runs: 1 });
    const some = await under.system.info(callerIn({ lab: true }, {}, "read"));
    expect(some).toEqual({ ...all, runs: 0, series: 0, points: 0, sizeBytes: 0 });
  });

  it("A21 concurrent callers with different rights do not get each other's answers", async () => {
    const under = await core();
    const id = await make(under, "lab", "job");
    const may = callerIn({ lab: true }, {}, "read");
    const mayNot = callerIn({ other: true }, {}, "read");
    const ref = { by: "alias", alias: "job", namespace: "" } as const;
    const answers = [may, mayNot, CALLER, mayNot].map((caller) =>
      under.runs.locate(caller, ref).catch((error: CairnError) => error.code),
    );
    expect(await Promise.all(answers)).toEqual([id, "not-found", id, "not-found"]);
  });
}
