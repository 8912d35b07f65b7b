import { expect, it } from "vitest";
import { Backlog } from "#core/quota/backlog.ts";
import { summarizeWrites, type WriteOutcome } from "#core/ingest/write-outcome.ts";
import type { RunEnvelope } from "#core/types/envelope.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { asked, buildCore, CALLER, NO_CREDENTIAL, type CoreUnderTest } from "../core-under-test.ts";
import { logLines } from "../naive-log.ts";
import { numbers, points, readNumbers, refused, useStores, type OpenStores } from "../stores.ts";

function envelope(run: RunRef, seq: number, parts: Partial<RunEnvelope> = {}): RunEnvelope {
  const series = [numbers("loss", [seq], seq)];
  return { run, writer: seq === 0 ? "" : "w", seq, series, change: undefined, lost: [], ...parts };
}

/** Acknowledgements unchanged, refusals as errors. */
function plain(outcomes: readonly WriteOutcome[]): unknown[] {
  return outcomes.map((outcome) => (outcome.ok ? outcome.ack : outcome.error));
}

const ack = (seq: number, duplicate = false) => ({ seq, duplicate, points: 1 });

export function coreWriteManyContract(open: OpenStores): void {
  const bench = useStores(open);
  const makeRun = async (
    { runs }: CoreUnderTest,
    aliases: string[] = [],
  ): Promise<RunRef & { by: "id" }> => ({
    by: "id",
    id: (await runs.create(CALLER, asked({ namespace: "lab", aliases }))).run.id,
  });

  it("E11 acknowledges or refuses each of many individually, in their order", async () => {
    const core = await buildCore(bench.under);
    const [a, b] = [await makeRun(core), await makeRun(core, ["job"])];
    const text = { key: "loss", labels: [], points: points({ kind: "text", data: ["x"] }) };
    const unreadable = new CairnError("invalid", "cannot read the line");
    const outcomes = await core.ingest.writeAll(CALLER, [
      envelope(a, 1, { log: [logLines(["one", "two"])] }),
      envelope({ by: "alias", alias: "job", namespace: "" }, 1),
      envelope({ by: "id", id: "0".repeat(32) }, 1),
      unreadable,
      envelope(b, -1),
      envelope(a, 2),
      envelope(a, 3, { series: [text] }),
      envelope(a, 1, { log: [logLines(["one", "two"])] }),
      envelope(b, 0, { change: { params: new Map([["p", "no json"]]) } }),
      envelope({ by: "alias", alias: "none", namespace: "" }, 1),
      envelope(b, 0, { series: [numbers("loss", [5], 5)] }),
    ]);
    expect(plain(outcomes)).toEqual([
      ack(1),
      ack(1),
      refused("not-found"),
      unreadable,
      refused("invalid"),
      ack(2),
      refused("invalid", "KIND_MISMATCH"),
      ack(1, true),
      refused("invalid"),
      refused("not-found"),
      ack(0),
    ]);
    expect(await readNumbers(bench.points, a.id, "loss")).toEqual([1, 2]);
    expect(await readNumbers(bench.points, b.id, "loss")).toEqual([1, 5]);
    expect(core.ingest.accepted).toEqual({ envelopes: 4, points: 4, lines: 2 });
    expect(await core.ingest.writeAll(CALLER, [])).toEqual([]);
    const anonymous = await core.ingest.writeAll(NO_CREDENTIAL, [envelope(a, 3)]);
    expect(plain(anonymous)).toEqual([refused("unauthenticated")]);
  });

  it("E12 applies those of one run and writer in their order, and refuses those after a refused one", async () => {
    const core = await buildCore(bench.under);
    const run = await makeRun(core);
    const outcomes = await core.ingest.writeAll(CALLER, [
      envelope(run, 1),
      envelope(run, 2),
      envelope(run, 3, { change: { heartbeatSeconds: -1 } }),
      envelope(run, 4),
      envelope(run, 1, { writer: "v" }),
      envelope(run, 5),
    ]);
    const gap = refused("precondition", "SEQ_GAP", { facts: { expected: "3" } });
    expect(plain(outcomes)).toEqual([ack(1), ack(2), refused("invalid"), gap, ack(1), gap]);
    const again = await core.ingest.writeAll(
      CALLER,
      [1, 2, 3, 4, 5].map((seq) => envelope(run, seq)),
    );
    expect(plain(again)).toEqual([ack(1, true), ack(2, true), ack(3), ack(4), ack(5)]);
  });

  it("E13 refuses more envelopes or points than one call may hold, and stores nothing", async () => {
    const core = await buildCore(bench.under);
    const run = await makeRun(core);
    const many = Array.from({ length: limits.callEnvelopesMax + 1 }, (_, i) => envelope(run, i + 1));
    const values = Array.from({ length: limits.envelopePointsMax }, () => 1);
    const large = Array.from({ length: 6 }, (_, i) =>
      envelope(run, i + 1, { series: [numbers("loss", values)] }),
    );
    for (const [over, what] of [
      [many, "envelopes in one call"],
      [large, "points in one call"],
    ] as const) {
      const message = expect.stringContaining(what) as string;
      await expect(core.ingest.writeAll(CALLER, over)).rejects.toEqual(
        refused("exhausted", "LIMIT_EXCEEDED", { message }),
      );
    }
    expect((await bench.runs.verifyRun(run.id)).writers).toEqual([]);
    const most = await core.ingest.writeAll(CALLER, many.slice(0, -1));
    expect(most.every(({ ok }) => ok)).toBe(true);
    expect(await bench.runs.verifyRun(run.id)).toMatchObject({ points: limits.callEnvelopesMax });
  });

  it("E14 summarizes accepted and refused envelopes, with the first refusals by index", async () => {
    const core = await buildCore(bench.under);
    const run = await makeRun(core);
    const missing: RunRef = { by: "id", id: "0".repeat(32) };
    const refs = Array.from({ length: 3 * limits.writeReasonsMax }, (_, i) => (i % 2 === 0 ? run : missing));
    const outcomes = await core.ingest.writeAll(
      CALLER,
      refs.map((ref) => envelope(ref, 0)),
    );
    const summary = summarizeWrites(outcomes);
    expect(summary).toMatchObject({ accepted: refs.length / 2, rejected: refs.length / 2 });
    expect(summary.reasons).toEqual(
      Array.from({ length: limits.writeReasonsMax }, (_, i) => ({
        index: 2 * i + 1,
        error: refused("not-found"),
      })),
    );
  });

  it("K14 reserves room in the backlog for many at once, and releases it", async () => {
    const backlog = new Backlog({ itemsMax: 4, bytesMax: 1 << 20 });
    const core = await buildCore(bench.under, { backlog });
    const run = await makeRun(core);
    const first = core.ingest.writeAll(
      CALLER,
      [1, 2, 3, 4].map((seq) => envelope(run, seq)),
    );
    expect(backlog.items).toBe(4);
    const overloaded = refused("unavailable", "OVERLOADED", { retryAfterMs: 1_000 });
    await expect(core.ingest.writeAll(CALLER, [envelope(run, 5), envelope(run, 6)])).rejects.toEqual(
      overloaded,
    );
    expect(plain(await first)).toEqual([1, 2, 3, 4].map((seq) => ack(seq)));
    expect([backlog.items, backlog.bytes]).toEqual([0, 0]);
    expect(await bench.runs.verifyRun(run.id)).toMatchObject({ points: 4 });
  });
}
