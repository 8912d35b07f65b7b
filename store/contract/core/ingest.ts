import { expect, it } from "vitest";
import type { RunEnvelope } from "#core/types/envelope.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { ReadRequest } from "#core/series/metrics.ts";
import { asked, buildCore, CALLER, NO_CREDENTIAL, type CoreUnderTest } from "../core-under-test.ts";
import { NOW_US, numbers, points, readNumbers, refused, useStores, type OpenStores } from "../stores.ts";

function envelope(run: RunRef, parts: Partial<RunEnvelope> = {}): RunEnvelope {
  return { run, writer: "w", seq: 1, series: [], change: undefined, lost: [], ...parts };
}

const READ: Omit<ReadRequest, "series"> = {
  form: "bytes",
  axis: "step",
  from: undefined,
  to: undefined,
  buckets: 0,
  includeReplaced: false,
  onlyReplaced: false,
};

export function coreIngestContract(open: OpenStores): void {
  const bench = useStores(open);
  const core = () => buildCore(bench.under);
  const makeRun = async ({ runs }: CoreUnderTest, aliases: string[] = []) =>
    (await runs.create(CALLER, asked({ namespace: "lab", aliases }))).run.id;

  it("E1 E2 writes to a run by id, path and alias, and counts what it accepted", async () => {
    const built = await core();
    const id = await makeRun(built, ["job"]);
    const refs: RunRef[] = [
      { by: "id", id },
      { by: "path", namespace: "lab", id },
      { by: "alias", alias: "job", namespace: "" },
      { by: "id", id },
    ];
    for (const [i, ref] of refs.entries()) {
      const one = () => envelope(ref, { seq: i + 1, series: [numbers("loss", [i], i)] });
      expect(await built.ingest.write(CALLER, one())).toEqual({ seq: i + 1, duplicate: false, points: 1 });
      expect(await built.ingest.write(CALLER, one())).toMatchObject({ duplicate: true });
    }
    expect(built.ingest.accepted).toEqual({ envelopes: 4, points: 4, lines: 0 });
    expect(await readNumbers(bench.points, id, "loss")).toEqual([0, 1, 2, 3]);
  });

  it("U11 passes params-once from a wire to the store", async () => {
    const built = await core();
    const id = await makeRun(built);
    const once = (lr: string) => ({ params: new Map([["lr", lr]]), paramsOnce: true as const });
    const run: RunRef = { by: "id", id };
    await built.ingest.write(CALLER, envelope(run, { change: once("1") }));
    await built.ingest.write(CALLER, envelope(run, { seq: 2, change: once("1") }));
    const other = built.ingest.write(CALLER, envelope(run, { seq: 3, change: once("2") }));
    await expect(other).rejects.toEqual(refused("precondition", "PARAM_WRITTEN"));
    const updated = built.runs.update(CALLER, run, once("2"));
    await expect(updated).rejects.toEqual(refused("precondition", "PARAM_WRITTEN"));
  });

  it("E1 applies envelopes that do not wait for each other in their order, also to an unknown run", async () => {
    const built = await core();
    const id = await makeRun(built, ["crowd"]);
    const refs: RunRef[] = [
      { by: "id", id },
      { by: "alias", alias: "crowd", namespace: "" },
    ];
    for (const [r, ref] of refs.entries()) {
      const written = Array.from({ length: 20 }, (_, i) =>
        built.ingest.write(
          CALLER,
          envelope(ref, { writer: `w${r}`, seq: i + 1, series: [numbers("loss", [i], i)] }),
        ),
      );
      expect((await Promise.all(written)).map((ack) => ack.seq)).toEqual(written.map((_, i) => i + 1));
    }
  });

  it("E6 stores nothing of an envelope that is refused before it reaches the store", async () => {
    const built = await core();
    const id = await makeRun(built);
    const ref = { by: "id", id } as const;
    const good = numbers("loss", [1]);
    const refusals: Partial<RunEnvelope>[] = [
      { writer: "", seq: 1 },
      { writer: "w", seq: 0 },
      { seq: -1 },
      { seq: 2 ** 53 },
      { series: [good, numbers("", [1])] },
      { series: [good], change: { params: new Map([["a", "not json"]]) } },
      { series: [good], lost: [{ first: 1, last: 1 }] },
      { series: [good], seq: 9, lost: [{ first: 0.5, last: 8 }] },
      { series: [good], change: { heartbeatSeconds: 1.5 } },
    ];
    for (const parts of refusals) {
      await expect(built.ingest.write(CALLER, envelope(ref, parts))).rejects.toEqual(refused("invalid"));
    }
    await expect(built.ingest.write(NO_CREDENTIAL, envelope(ref))).rejects.toEqual(
      refused("unauthenticated"),
    );
    const unknown = { by: "id", id: "0".repeat(32) } as const;
    await expect(built.ingest.write(CALLER, envelope(unknown))).rejects.toEqual(refused("not-found"));
    expect(await bench.engine.info()).toMatchObject({ series: 0, points: 0 });
    expect(built.ingest.accepted).toEqual({ envelopes: 0, points: 0, lines: 0 });
    expect((await bench.runs.verifyRun(id)).writers).toEqual([]);
  });

  it("V3 refuses steps and times above 2^53 and fractions", async () => {
    const built = await core();
    const ref = { by: "id", id: await makeRun(built) } as const;
    for (const bad of [2 ** 53 + 2, -(2 ** 53) - 2, 0.5, NaN, -Infinity]) {
      for (const column of ["steps", "times"] as const) {
        const values = { kind: "number", data: Float64Array.of(1, 2) } as const;
        const series = [
          { key: "x", labels: [], points: points(values, { [column]: Float64Array.of(1, bad) }) },
        ];
        const refusal = built.ingest.write(CALLER, envelope(ref, { series }));
        await expect(refusal).rejects.toEqual(refused("invalid", "UNSAFE_INTEGER"));
      }
    }
  });

  it("continues after a cached run was purged", async () => {
    const built = await core();
    const id = await makeRun(built);
    const ref = { by: "id", id } as const;
    await built.ingest.write(CALLER, envelope(ref));
    await built.runs.delete(CALLER, ref);
    await built.runs.purge(CALLER, ref);
    await expect(built.ingest.write(CALLER, envelope(ref, { seq: 2 }))).rejects.toEqual(refused("not-found"));
  });

  it("lists series by glob or regex, and refuses both at once and invalid patterns", async () => {
    const built = await core();
    const run = { by: "id", id: await makeRun(built) } as const;
    const series = ["train/loss", "val/loss", "val.loss"].map((key) => numbers(key, [1]));
    await built.ingest.write(CALLER, envelope(run, { series }));
    const list = async (glob: string, regex: string) => {
      const page = await built.metrics.list(CALLER, {
        among: { runs: [run] },
        matchers: [],
        glob,
        regex,
        pageSize: 0,
        pageToken: "",
      });
      return page.series.map(({ key }) => key);
    };
    expect(await list("", "")).toEqual(["train/loss", "val.loss", "val/loss"]);
    expect(await list("*/loss", "")).toEqual(["train/loss", "val/loss"]);
    expect(await list("val/loss", "")).toEqual(["val/loss"]);
    expect(await list("", "^val.")).toEqual(["val.loss", "val/loss"]);
    await expect(list("a", "b")).rejects.toEqual(refused("invalid"));
    await expect(list("", "(")).rejects.toEqual(refused("invalid"));
  });

  it("P1 reads series of several runs, by any reference, and refuses invalid requests", async () => {
    const built = await core();
    const a = await makeRun(built, ["a"]);
    const b = await makeRun(built);
    const refs: RunRef[] = [
      { by: "alias", alias: "a", namespace: "" },
      { by: "id", id: b },
    ];
    for (const [i, ref] of refs.entries()) {
      await built.ingest.write(CALLER, envelope(ref, { series: [numbers("loss", [i, i + 1])] }));
    }
    const series = refs.map((run) => ({ run, key: "loss", labels: [] }));
    const { series: read } = await built.metrics.read(CALLER, { ...READ, series });
    expect(read.map(({ runId, pointCount }) => [runId, pointCount])).toEqual([
      [a, 2],
      [b, 2],
    ]);
    for (const wrong of [{ buckets: -1 }, { buckets: 1.5 }, { buckets: 1e9 }, { from: 2, to: 1 }]) {
      const refusal = built.metrics.read(CALLER, { ...READ, series, ...wrong });
      await expect(refusal).rejects.toEqual(refused("invalid"));
    }
    const unknown = built.metrics.read(CALLER, {
      ...READ,
      series: [{ run: { by: "id", id: "x" }, key: "k", labels: [] }],
    });
    await expect(unknown).rejects.toEqual(refused("not-found"));
  });

  it("N4 describes keys of a namespace, and refuses the root and wrong names", async () => {
    const { metricKeys } = await core();
    const described = {
      namespace: "lab",
      key: "loss",
      unit: "nats",
      direction: "minimize",
      description: "d",
      picture: "line",
    } as const;
    expect(await metricKeys.describe(CALLER, described)).toEqual(described);
    const below = { namespace: "lab/below", pageSize: 0, pageToken: "" };
    expect(await metricKeys.list(CALLER, below)).toEqual({ keys: [described], nextPageToken: "" });
    for (const wrong of [{ namespace: "" }, { namespace: "a//b" }, { key: "" }, { key: "a\u0000" }]) {
      await expect(metricKeys.describe(CALLER, { ...described, ...wrong })).rejects.toEqual(
        refused("invalid"),
      );
    }
    expect(await bench.namespaces.findNamespace("lab")).toMatchObject({ createdUs: NOW_US });
  });
}
