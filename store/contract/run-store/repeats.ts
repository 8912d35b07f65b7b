import { expect, it } from "vitest";
import { CHANGED_RUNS, type RunAppend, type AppendOutcome } from "#core/ports/journal.ts";
import { limits } from "#lang/limits.ts";
import { artifactRecord } from "../artifact-record.ts";
import { buildCore, CALLER } from "../core-under-test.ts";
import { logLines } from "../naive-log.ts";
import {
  ackOf,
  appendOne,
  AUDIT,
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
} from "../stores.ts";

const REPEAT_US = limits.repeatMs * 1000;

/** Without a number, to be stored once. */
function body(id: string, value: number, parts: Partial<RunAppend> = {}): RunAppend {
  const series = [numbers("loss", [value], value)];
  return envelope(id, 0, { series, dropRepeated: true, ...parts });
}

function duplicates(outcomes: readonly AppendOutcome[]): boolean[] {
  return outcomes.map((outcome) => ackOf(outcome).duplicate);
}

export function repeatsContract(open: OpenStores): void {
  const bench = useStores(open);
  const send = async (one: RunAppend, nowUs = NOW_US) =>
    (await appendOne(bench.journal, one, nowUs)).duplicate;

  it("E15 stores a body without a number once on request, and repeats change nothing", async () => {
    const id = await createRun(bench.runs);
    const rich = () =>
      body(id, 1, {
        change: { tags: new Map([["a", "1"]]), status: "finished" },
        log: [logLines(["line"])],
        artifacts: [artifactRecord({ content: Buffer.from("x") })],
      });
    expect(await appendOne(bench.journal, rich())).toEqual({ seq: 0, duplicate: false, points: 1 });
    const before = await getRun(bench.runs, id);
    const { position } = await bench.journal.changesSince(undefined, CHANGED_RUNS);
    let later = NOW_US;
    await inEveryForm(bench, async () => {
      // A body without a time is equal whenever it is received.
      later += REPEAT_US / 10;
      expect(await appendOne(bench.journal, rich(), later)).toEqual({ seq: 0, duplicate: true, points: 1 });
      expect(await getRun(bench.runs, id)).toEqual(before);
      expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 1, unnumberedEnvelopes: 1 });
      expect(await bench.under.logs.lineCount(id)).toBe(1);
      expect((await bench.journal.changesSince(undefined, CHANGED_RUNS)).position).toBe(position);
    });
    const others: RunAppend[] = [
      { ...rich(), change: undefined },
      { ...rich(), log: [logLines(["other"])] },
      { ...rich(), log: [logLines(["line"], { rank: 1 })] },
      { ...rich(), artifacts: undefined },
      { ...rich(), series: [numbers("loss", [2], 1)] },
      { ...rich(), series: [numbers("acc", [1], 1)] },
      { ...rich(), runId: await createRun(bench.runs) },
    ];
    for (const other of others) expect(await send(other)).toBe(false);
  });

  it("E15 stores it once within one call, and among concurrent calls", async () => {
    const id = await createRun(bench.runs);
    const together = await bench.journal.append([body(id, 1), body(id, 2), body(id, 1)], NOW_US);
    expect(duplicates(together)).toEqual([false, false, true]);
    const apart = await Promise.all([3, 1, 3].map((n) => bench.journal.append([body(id, n)], NOW_US)));
    expect(duplicates(apart.flat())).toEqual([false, true, true]);
    expect(await readNumbers(bench.points, id, "loss")).toEqual([1, 2, 3]);
  });

  it("E15 E7 does not affect envelopes without the option", async () => {
    const id = await createRun(bench.runs);
    const plain = () => body(id, 1, { dropRepeated: undefined });
    for (const one of [plain(), plain(), body(id, 1), plain()]) expect(await send(one)).toBe(false);
    expect(await send(body(id, 1))).toBe(true);
    expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 4, unnumberedEnvelopes: 4 });
  });

  it("E15 E6 does not remember a body that was refused", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, body(id, 1, { series: [numbers("acc", [1])] }));
    const text = { key: "acc", labels: [], points: points({ kind: "text", data: ["x"] }) };
    const wrong = () => body(id, 1, { series: [text] });
    for (let i = 0; i < 2; i++)
      await expect(send(wrong())).rejects.toEqual(refused("invalid", "KIND_MISMATCH"));
    await createRun(bench.runs, { aliases: ["taken"] });
    const aliased = () => body(id, 2, { change: { addAliases: ["taken"] } });
    for (let i = 0; i < 2; i++)
      await expect(send(aliased())).rejects.toEqual(refused("exists", "ALIAS_TAKEN"));
  });

  it("E15 stores it once at two cores on one store", async () => {
    const cores = [await buildCore(bench.under), await buildCore(bench.under)] as const;
    const run = { by: "id", id: await createRun(bench.runs) } as const;
    const written = await Promise.all(
      [...cores, ...cores].map(({ ingest }) => ingest.write(CALLER, { ...body("", 1), run })),
    );
    expect(written.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(cores[0].ingest.accepted.envelopes + cores[1].ingest.accepted.envelopes).toBe(1);
    const numbered = { ...body("", 1), run, writer: "w", seq: 1 };
    await expect(cores[0].ingest.write(CALLER, numbered)).rejects.toEqual(refused("invalid"));
  });

  it("E16 forgets a body after its time, and counts from when it was stored", async () => {
    const id = await createRun(bench.runs);
    expect(await send(body(id, 1))).toBe(false);
    expect(await send(body(id, 1), NOW_US + REPEAT_US - 1)).toBe(true);
    expect(await send(body(id, 1), NOW_US + REPEAT_US)).toBe(false);
    expect(await send(body(id, 1), NOW_US + 2 * REPEAT_US - 1)).toBe(true);
    expect(await bench.runs.verifyRun(id)).toMatchObject({ points: 2, unnumberedEnvelopes: 2 });
  });

  it("E16 remembers the last bodies of each run, and none of a run that is purged", async () => {
    const id = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    expect(await send(body(other, 0))).toBe(false);
    const most = limits.repeatsPerRunMax;
    const all = Array.from({ length: most + 1 }, (_, i) => body(id, i));
    expect(duplicates(await bench.journal.append(all, NOW_US))).not.toContain(true);
    expect(await send(body(id, 1))).toBe(true);
    expect(await send(body(id, most))).toBe(true);
    expect(await send(body(id, 0))).toBe(false);
    expect(await send(body(id, 1))).toBe(false);
    expect(await send(body(other, 0))).toBe(true);
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    await bench.runs.purgeRun(id, AUDIT);
    await createRun(bench.runs, { id });
    expect(await send(body(id, most))).toBe(false);
  });
}
