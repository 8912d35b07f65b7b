import { createHash, randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import type { Matcher } from "#core/types/matchers.ts";
import type { LabelsRequest, ListRequest } from "#core/series/metrics.ts";
import { asked, buildCore, CALLER, NO_CREDENTIAL, type CoreUnderTest } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { appendOne, envelope, numbers, refused, useStores, type OpenStores } from "../stores.ts";

const PAGE = { matchers: [], pageSize: 0, pageToken: "" };

function listing(parts: Partial<ListRequest>): ListRequest {
  return { among: { under: "" }, glob: "", regex: "", ...PAGE, ...parts };
}

function labels(parts: Partial<LabelsRequest>): LabelsRequest {
  return { among: { under: "" }, label: undefined, ...PAGE, ...parts };
}

export function coreSeriesContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under);

  /** A run with loss of ranks 0 and 1, and without labels. */
  const make = async ({ runs }: CoreUnderTest, namespace: string) => {
    const { id } = (await runs.create(CALLER, asked({ namespace }))).run;
    const ranks = ["0", "1"].map((rank) => numbers("loss", [1], 0, [["rank", rank]]));
    await appendOne(bench.journal, envelope(id, 1, { series: [...ranks, numbers("loss", [1])] }));
    return id;
  };

  it("V10 selects in one run, in several and in everything that the caller may read", async () => {
    const built = await core();
    const ids = [await make(built, "a"), await make(built, "a/b"), await make(built, "secret")];
    const refs = ids.map((id) => ({ by: "id", id }) as const);
    const matchers: Matcher[] = [{ label: "rank", op: "=~", value: "[01]" }];
    const eve = callerWithout({ namespaces: ["secret"] }, "read");
    const found = async (caller: typeof eve, parts: Partial<ListRequest>) =>
      (await built.metrics.list(caller, listing({ matchers, ...parts }))).series.map(({ runId }) => runId);
    const both = (...runs: string[]) => runs.flatMap((id) => [id, id]).sort();
    expect(await found(CALLER, { among: { runs: [refs[0]!] } })).toEqual(both(ids[0]!));
    expect(await found(CALLER, { among: { runs: [refs[0]!, refs[2]!, refs[0]!] } })).toEqual(
      both(ids[0]!, ids[2]!),
    );
    expect(await found(CALLER, {})).toEqual(both(...ids));
    expect(await found(eve, {})).toEqual(both(ids[0]!, ids[1]!));
    expect(await found(eve, { among: { under: "a/b" } })).toEqual(both(ids[1]!));
    expect(await found(eve, { among: { under: "secret" } })).toEqual([]);
    await expect(found(eve, { among: { runs: refs } })).rejects.toEqual(refused("not-found"));
    await expect(found(NO_CREDENTIAL, {})).rejects.toEqual(refused("unauthenticated"));
  });

  it("V11 lists names of labels, their values and keys in pages, of series that the caller may read", async () => {
    const built = await core();
    await make(built, "a");
    await make(built, "secret");
    const eve = callerWithout({ namespaces: ["secret"] }, "read");
    const { metrics } = built;
    expect((await metrics.listLabels(CALLER, labels({}))).texts).toEqual([{ text: "rank", seriesCount: 4 }]);
    expect((await metrics.listLabels(eve, labels({ label: "" }))).texts).toEqual([
      { text: "loss", seriesCount: 3 },
    ]);
    const first = await metrics.listLabels(eve, labels({ label: "rank", pageSize: 1 }));
    expect(first).toMatchObject({ texts: [{ text: "0", seriesCount: 1 }], truncated: false });
    const { nextPageToken: pageToken } = first;
    const second = await metrics.listLabels(eve, labels({ label: "rank", pageSize: 1, pageToken }));
    expect(second).toMatchObject({ texts: [{ text: "1", seriesCount: 1 }], nextPageToken: "" });
    await expect(metrics.listLabels(eve, labels({ pageToken: "?" }))).rejects.toEqual(
      refused("invalid", "PAGE_TOKEN"),
    );
    await expect(metrics.listLabels(NO_CREDENTIAL, labels({}))).rejects.toEqual(refused("unauthenticated"));
  });

  it.each([
    ["a pattern that is none", [{ label: "a", op: "=~", value: "(" }], "invalid"],
    ["a pattern with an unopened parenthesis", [{ label: "a", op: "=~", value: "a)|(b" }], "invalid"],
    ["a pattern that is too large", [{ label: "a", op: "!~", value: "(a{1000}){9}" }], "invalid"],
    ["a label with a control character", [{ label: "\n", op: "=", value: "" }], "invalid"],
    [
      "too many matchers",
      Array.from({ length: limits.matchersMax + 1 }, () => ({ label: "a", op: "=", value: "" })),
      "exhausted",
    ],
  ] as [string, Matcher[], "invalid" | "exhausted"][])("V10 refuses %s", async (_, matchers, code) => {
    const { metrics } = await core();
    await expect(metrics.list(CALLER, listing({ matchers }))).rejects.toEqual(refused(code));
  });

  it("V10 reads the series that matchers select, of a key or of any", async () => {
    const built = await core();
    const run = { by: "id", id: await make(built, "a") } as const;
    const read = async (key: string | undefined, matchers: Matcher[]) => {
      const range = { axis: "step", from: undefined, to: undefined, buckets: 0 } as const;
      const { series } = await built.metrics.read(CALLER, {
        ...range,
        includeReplaced: false,
        onlyReplaced: false,
        form: "bytes",
        series: [{ run, key, labels: undefined, matchers }],
      });
      return series.map((one) => one.labels[0]?.[1]);
    };
    expect(await read("loss", [{ label: "rank", op: "!=", value: "" }])).toEqual(["0", "1"]);
    expect(await read(undefined, [{ label: "rank", op: "=", value: "" }])).toEqual([undefined]);
    expect(await read(undefined, [])).toEqual([undefined, "0", "1"]);
    expect(await read("acc", [])).toEqual([]);
  });

  it("V10 bounds the cost of the patterns of all selectors of a read together", async () => {
    const built = await core();
    const id = await make(built, "a");
    const run = { by: "id", id } as const;
    const range = { axis: "step", from: undefined, to: undefined, buckets: 0 } as const;
    const read = (matchers: readonly Matcher[][]) =>
      built.metrics.read(CALLER, {
        ...range,
        includeReplaced: false,
        onlyReplaced: false,
        form: "bytes",
        series: matchers.map((some) => ({ run, key: undefined, labels: undefined, matchers: some })),
      });
    const pattern = (value: string): Matcher => ({ label: "rank", op: "=~", value });
    const different = Array.from({ length: limits.matchersMax + 1 }, (_, at) => [pattern(`${at}`)]);
    expect((await read(different.slice(1))).series).toHaveLength(1);
    await expect(read(different)).rejects.toThrow("different patterns in one request");
    // Each of these patterns takes most of its time once: its automaton has thousands of states.
    const digest = (text: string) => createHash("sha512").update(text).digest();
    const letters = (at: number) =>
      [...digest(`${at}`)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
    const keyOf = (at: number) => letters(at).replaceAll("0", "a").replaceAll("1", "b");
    const series = Array.from({ length: 20 }, (_, at) => numbers(keyOf(at), [1]));
    await appendOne(bench.journal, envelope(id, 2, { series }));
    const slow = (at: number): Matcher[] => [
      { label: "", op: "=~", value: `[ab]*a[ab]{${100 + at}}[cd]|${randomUUID()}` },
    ];
    const many = Array.from({ length: limits.matchersMax }, (_, at) => slow(at));
    await expect(read(many)).rejects.toEqual(refused("deadline", "SEARCH_SLOW"));
  });

  it("V12 V14 deletes series that matchers select in a run, for callers that may destroy, also from searches", async () => {
    const built = await core();
    const run = { by: "id", id: await make(built, "a") } as const;
    const owner = { ...CALLER, permission: "maintain" } as const;
    const whole = { run, axis: "step", from: undefined, to: undefined } as const;
    const { metrics, runs } = built;
    const matchers: Matcher[] = [{ label: "rank", op: "!=", value: "" }];
    const found = async () => {
      const query = { namespace: "", trashed: false, pageSize: 0, pageToken: "", columns: [] };
      return (await runs.search(CALLER, { ...query, query: "metrics.loss.count >= 1" })).totalCount;
    };
    expect(await found()).toBe(1);
    await expect(metrics.delete(owner, { ...whole, matchers: [] })).rejects.toEqual(refused("invalid"));
    await expect(metrics.delete(owner, { ...whole, matchers, from: 2, to: 1 })).rejects.toEqual(
      refused("invalid"),
    );
    await expect(metrics.delete(NO_CREDENTIAL, { ...whole, matchers })).rejects.toEqual(
      refused("unauthenticated"),
    );
    const eve = callerWithout({ namespaces: ["a"] }, "maintain");
    await expect(metrics.delete(eve, { ...whole, matchers })).rejects.toEqual(refused("not-found"));
    expect(await metrics.delete(owner, { ...whole, matchers })).toEqual({ series: 2, points: 2 });
    expect(await found()).toBe(1);
    const all: Matcher[] = [{ label: "", op: "=~", value: ".*" }];
    expect(await metrics.delete(owner, { ...whole, matchers: all })).toEqual({ series: 1, points: 1 });
    expect(await found()).toBe(0);
  });
}
