import { expect, it } from "vitest";
import type { RunChange } from "#core/types/run.ts";
import type { RunAppend } from "#core/ports/journal.ts";
import {
  ackOf,
  appendOne,
  createRun,
  envelope,
  getRun,
  inEveryForm,
  NOW_US,
  numbers,
  points,
  readNumbers,
  refused,
  useStores,
  type OpenStores,
  selectOf,
} from "../stores.ts";

export function ledgerContract(open: OpenStores): void {
  const bench = useStores(open);
  const one = (id: string, seq: number, more: Partial<RunAppend> = {}) =>
    envelope(id, seq, { series: [numbers("loss", [seq], seq)], ...more });
  const lossOf = (id: string) => readNumbers(bench.points, id, "loss");

  it("E1 applies the next number of each writer and run, and only that one", async () => {
    const a = await createRun(bench.runs);
    const b = await createRun(bench.runs);
    for (const [runId, writer] of [
      [a, "w"],
      [a, "v"],
      [b, "w"],
    ] as const) {
      for (const seq of [1, 2, 3]) {
        const labels = [["writer", writer]] as const;
        const series = [numbers("loss", [seq], seq, labels)];
        expect(await appendOne(bench.journal, envelope(runId, seq, { writer, series }))).toEqual({
          seq,
          duplicate: false,
          points: 1,
        });
      }
      expect(await readNumbers(bench.points, runId, "loss", { labels: [["writer", writer]] })).toEqual([
        1, 2, 3,
      ]);
    }
  });

  it("U11 refuses the envelope that writes a param again, as a whole and as the only one of its group", async () => {
    const [id, other] = [await createRun(bench.runs), await createRun(bench.runs)];
    const once = (lr: string): RunChange => ({
      params: new Map([
        ["lr", lr],
        [`seen ${lr}`, "1"],
      ]),
      paramsOnce: true,
    });
    const group = [
      one(id, 1, { change: once("1") }),
      one(id, 1, { writer: "second", change: once("2"), series: [numbers("new", [1])] }),
      one(id, 2, { change: once("1") }),
      one(other, 1, { change: once("2") }),
    ];
    const [first, second, third, fourth] = await bench.journal.append(group, NOW_US);
    for (const outcome of [first, third, fourth]) expect(ackOf(outcome).duplicate).toBe(false);
    const error = refused("precondition", "PARAM_WRITTEN", { facts: { key: "lr" } });
    expect(second).toEqual({ ok: false, error });
    await inEveryForm(bench, async () => {
      expect(Object.fromEntries((await getRun(bench.runs, id)).params)).toEqual({ lr: "1", "seen 1": "1" });
      expect(await lossOf(id)).toEqual([1, 2]);
      expect((await selectOf(bench.points, id)).series.map(({ key }) => key)).toEqual(["loss"]);
    });
    // The number was not used up.
    await appendOne(bench.journal, one(id, 1, { writer: "second", series: [numbers("new", [2])] }));
  });

  it("E2 acknowledges a known number with the same content as a duplicate and changes nothing", async () => {
    const id = await createRun(bench.runs);
    const change: RunChange = { status: "finished", tags: new Map([["a", "1"]]) };
    const first = () => one(id, 1, { change });
    await appendOne(bench.journal, first(), NOW_US);
    for (const seq of [2, 3]) await appendOne(bench.journal, one(id, seq));
    await bench.runs.updateRun(id, { status: "running", tags: new Map([["a", "2"]]) }, NOW_US);
    const before = await getRun(bench.runs, id);
    await inEveryForm(bench, async () => {
      expect(await appendOne(bench.journal, first(), NOW_US + 9)).toEqual({
        seq: 1,
        duplicate: true,
        points: 1,
      });
      for (const seq of [3, 2, 3]) {
        expect(await appendOne(bench.journal, one(id, seq))).toMatchObject({ duplicate: true });
      }
      expect(await lossOf(id)).toEqual([1, 2, 3]);
      expect(await getRun(bench.runs, id)).toEqual(before);
      expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 3, writers: [{ envelopes: 3 }] });
    });
  });

  it("E3 refuses a known number with other content and changes nothing", async () => {
    const id = await createRun(bench.runs);
    for (const seq of [1, 2, 3]) await appendOne(bench.journal, one(id, seq));
    const before = await getRun(bench.runs, id);
    const reused = refused("exists", "SEQ_REUSED", { facts: { last: "3" } });
    await inEveryForm(bench, async () => {
      const others: Partial<RunAppend>[] = [
        { series: [] },
        { series: [numbers("loss", [2.5], 2)] },
        { series: [numbers("loss", [2], 3)] },
        { series: [numbers("acc", [2], 2)] },
        { series: [numbers("loss", [2], 2, [["rank", "0"]])] },
        { series: [numbers("loss", [2], 2), numbers("loss", [2], 2)] },
        { change: { name: "other" } },
        { change: { params: new Map([["a", "1"]]) } },
        { lost: [{ first: 1, last: 1 }] },
      ];
      for (const other of others) {
        await expect(appendOne(bench.journal, one(id, 2, other))).rejects.toEqual(reused);
      }
      expect(await lossOf(id)).toEqual([1, 2, 3]);
      expect(await getRun(bench.runs, id)).toEqual(before);
    });
  });

  it("E4 refuses a number too far ahead with the expected one and changes nothing", async () => {
    const id = await createRun(bench.runs);
    const gap = (expected: number) =>
      refused("precondition", "SEQ_GAP", { facts: { expected: `${expected}` } });
    const change = { name: "never" };
    await expect(appendOne(bench.journal, one(id, 2, { change }))).rejects.toEqual(gap(1));
    expect((await bench.runs.verifyRun(id)).writers).toEqual([]);
    await appendOne(bench.journal, one(id, 1));
    await inEveryForm(bench, async () => {
      await expect(appendOne(bench.journal, one(id, 3, { change }))).rejects.toEqual(gap(2));
      await expect(appendOne(bench.journal, one(id, 2 ** 40, { change }))).rejects.toEqual(gap(2));
    });
    expect(await lossOf(id)).toEqual([1]);
    expect(await getRun(bench.runs, id)).toMatchObject({ name: "a run" });
  });

  it("E5 accepts the next number after declared losses, and verify shows them", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, one(id, 1));
    const incomplete = one(id, 9, { lost: [{ first: 5, last: 8 }] });
    await expect(appendOne(bench.journal, incomplete)).rejects.toEqual(
      refused("precondition", "SEQ_GAP", { facts: { expected: "2" } }),
    );
    const lost = [
      { first: 5, last: 8 },
      { first: 2, last: 4 },
    ];
    await appendOne(bench.journal, one(id, 9, { lost }));
    await appendOne(bench.journal, one(id, 10));
    await inEveryForm(bench, async () => {
      const ledger = await bench.runs.verifyRun(id);
      expect(ledger.writers).toMatchObject([{ envelopes: 3, lastSeq: 10, gaps: [] }]);
      const numbersLost = ledger.writers[0]!.lost.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, i) => first + i),
      );
      expect(numbersLost.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8]);
      // Numbers declared lost must not be mistaken for stored ones.
      await expect(appendOne(bench.journal, one(id, 3))).rejects.toEqual(refused("exists", "SEQ_REUSED"));
      expect(await appendOne(bench.journal, one(id, 9, { lost }))).toMatchObject({ duplicate: true });
      expect(await appendOne(bench.journal, one(id, 10))).toMatchObject({ duplicate: true });
      await expect(appendOne(bench.journal, one(id, 9))).rejects.toEqual(refused("exists", "SEQ_REUSED"));
    });
    expect(await lossOf(id)).toEqual([1, 9, 10]);
  });

  it("E5 stores a loss that overlaps what has arrived, or another one, once", async () => {
    const id = await createRun(bench.runs);
    for (const seq of [1, 2, 3]) await appendOne(bench.journal, one(id, seq));
    const lost = [
      { first: 2, last: 5 },
      { first: 4, last: 6 },
      { first: 6, last: 6 },
    ];
    await appendOne(bench.journal, one(id, 7, { lost }));
    await inEveryForm(bench, async () => {
      const { writers } = await bench.runs.verifyRun(id);
      expect(writers).toMatchObject([{ envelopes: 4, lastSeq: 7, lost: [{ first: 4, last: 6 }], gaps: [] }]);
    });
  });

  it("E5 a writer may begin with a loss", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, one(id, 4, { lost: [{ first: 1, last: 3 }] }));
    await inEveryForm(bench, async () => {
      expect((await bench.runs.verifyRun(id)).writers).toMatchObject([
        { envelopes: 1, lastSeq: 4, lost: [{ first: 1, last: 3 }], gaps: [] },
      ]);
    });
    // A single one, too.
    await appendOne(bench.journal, one(id, 6, { lost: [{ first: 5, last: 5 }] }));
    expect((await bench.runs.verifyRun(id)).writers).toMatchObject([
      {
        envelopes: 2,
        lastSeq: 6,
        lost: [
          { first: 1, last: 3 },
          { first: 5, last: 5 },
        ],
        gaps: [],
      },
    ]);
  });

  it("E6 V6 stores nothing of an envelope with one series of another kind", async () => {
    const id = await createRun(bench.runs, { params: new Map([["p", "1"]]) });
    await appendOne(bench.journal, one(id, 1));
    const before = { run: await getRun(bench.runs, id), info: await bench.engine.info() };
    const mixed = (seq: number, writer: string) =>
      envelope(id, seq, {
        writer,
        change: {
          status: "failed",
          name: "never",
          params: new Map([["p", "2"]]),
          tags: new Map([["t", "never"]]),
          addAliases: ["never"],
        },
        series: [
          numbers("fresh", [1, 2, 3]),
          { key: "loss", labels: [], points: points({ kind: "text", data: ["two"] }) },
          numbers("loss", [5], 5),
        ],
      });
    await inEveryForm(bench, async () => {
      for (const refusal of [mixed(2, "w"), mixed(1, "other"), mixed(0, "")]) {
        await expect(appendOne(bench.journal, refusal)).rejects.toEqual(refused("invalid", "KIND_MISMATCH"));
      }
      expect(await getRun(bench.runs, id)).toEqual(before.run);
      const { sizeBytes: _, ...info } = await bench.engine.info();
      expect(before.info).toMatchObject(info);
      expect(await selectOf(bench.points, id, { limit: 10 })).toMatchObject({
        total: 1,
        series: [{ key: "loss", summary: { count: 1 } }],
      });
      const ledger = await bench.runs.verifyRun(id);
      expect(ledger).toMatchObject({ unnumberedEnvelopes: 0, points: 1, problems: [] });
      expect(ledger.writers).toMatchObject([{ writer: "w", envelopes: 1, lastSeq: 1 }]);
      expect(await bench.runs.findRuns({ by: "alias", alias: "never", namespace: "" })).toEqual([]);
    });
    expect(await appendOne(bench.journal, one(id, 2))).toMatchObject({ duplicate: false });
  });

  it("E6 stores nothing of an envelope whose own series disagree, or whose change is refused", async () => {
    await createRun(bench.runs, { aliases: ["taken"] });
    const id = await createRun(bench.runs);
    const disagreeing = [
      numbers("fresh", [1]),
      { key: "fresh", labels: [], points: points({ kind: "bool" as const, data: Uint8Array.of(1) }) },
    ];
    await expect(appendOne(bench.journal, envelope(id, 1, { series: disagreeing }))).rejects.toEqual(
      refused("invalid", "KIND_MISMATCH"),
    );
    await expect(
      appendOne(bench.journal, one(id, 1, { change: { addAliases: ["free", "taken"] } })),
    ).rejects.toEqual(refused("exists", "ALIAS_TAKEN"));
    expect(await bench.engine.info()).toMatchObject({ series: 0, points: 0 });
    expect((await bench.runs.verifyRun(id)).writers).toEqual([]);
    expect(await bench.runs.findRuns({ by: "alias", alias: "free", namespace: "" })).toEqual([]);
  });

  it("E6 refuses one envelope of a call without affecting the others", async () => {
    const id = await createRun(bench.runs);
    const outcomes = await bench.journal.append(
      [
        one(id, 1),
        one(id, 3),
        one("0".repeat(32), 1),
        one(id, 2),
        envelope(id, 3, {
          series: [{ key: "loss", labels: [], points: points({ kind: "text", data: ["x"] }) }],
        }),
        one(id, 3),
        one(id, 1),
      ],
      NOW_US,
    );
    expect(outcomes.map((outcome) => (outcome.ok ? outcome.ack.seq : outcome.error))).toEqual([
      1,
      refused("precondition", "SEQ_GAP"),
      refused("not-found"),
      2,
      refused("invalid", "KIND_MISMATCH"),
      3,
      1,
    ]);
    expect(ackOf(outcomes.at(-1))).toMatchObject({ duplicate: true });
    expect(await lossOf(id)).toEqual([1, 2, 3]);
    expect(await bench.journal.append([], NOW_US)).toEqual([]);
  });

  it("E7 stores an envelope without a number as often as it is sent, and counts it", async () => {
    const id = await createRun(bench.runs);
    for (let i = 0; i < 3; i++) {
      expect(await appendOne(bench.journal, one(id, 0))).toEqual({ seq: 0, duplicate: false, points: 1 });
    }
    await appendOne(bench.journal, envelope(id, 0, { change: { tags: new Map([["only", "change"]]) } }));
    await inEveryForm(bench, async () => {
      expect(await lossOf(id)).toEqual([0, 0, 0]);
      expect(await bench.runs.verifyRun(id)).toMatchObject({
        writers: [],
        points: 3,
        unnumberedEnvelopes: 4,
        problems: [],
      });
    });
    expect((await getRun(bench.runs, id)).tags.get("only")).toBe("change");
  });
}
