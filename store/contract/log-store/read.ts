import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { EVERY_LINE } from "#core/types/log.ts";
import { logLines, readAll, searchAll } from "../naive-log.ts";
import {
  ackOf,
  appendOne,
  AUDIT,
  createRun,
  envelope,
  expectIntact,
  inEveryForm,
  NOW_US,
  numbers,
  type OpenStores,
  refused,
  useStores,
} from "../stores.ts";

export function logReadContract(open: OpenStores, large: boolean): void {
  const bench = useStores(open);
  const append = (runId: string, texts: readonly string[], seq = 0) =>
    appendOne(bench.journal, envelope(runId, seq, { log: [logLines(texts)] }));
  const texts = async (runId: string) => (await readAll(bench.under.logs, runId)).map(({ text }) => text);

  it("L1 numbers lines by arrival from 0, each run separately", async () => {
    const [a, b] = [await createRun(bench.runs), await createRun(bench.runs)];
    await append(a, ["one", "two"]);
    await append(b, ["other"]);
    await append(a, ["three"]);
    await inEveryForm(bench, async () => {
      const lines = await readAll(bench.under.logs, a);
      expect(lines.map(({ number, text }) => [number, text])).toEqual([
        [0, "one"],
        [1, "two"],
        [2, "three"],
      ]);
      expect(await bench.under.logs.lineCount(b)).toBe(1);
    });
    await append(a, ["four"]);
    expect(await texts(a)).toEqual(["one", "two", "three", "four"]);
  });

  it("L2 returns every character, and the time of arrival for a line without a time", async () => {
    const id = await createRun(bench.runs);
    const hostile = [
      "",
      " ",
      "\n",
      "\r\n",
      "\u0000",
      "\ufeff",
      "🐈",
      "é".normalize("NFD"),
      "x".repeat(65_536),
    ];
    const times = Float64Array.from(hostile, (_, i) => NOW_US - i * 1_000_003);
    const said = logLines(hostile, { times, origin: "scheduler", stream: "events", rank: -3 });
    await appendOne(bench.journal, envelope(id, 1, { log: [logLines(["untimed"]), said] }), NOW_US + 42);
    await inEveryForm(bench, async () => {
      const [first, ...rest] = await readAll(bench.under.logs, id);
      expect(first).toEqual({
        number: 0,
        timeUs: NOW_US + 42,
        origin: "process",
        stream: "stdout",
        rank: undefined,
        text: "untimed",
      });
      expect(rest).toEqual(
        hostile.map((text, i) => ({
          number: i + 1,
          timeUs: times[i],
          origin: "scheduler",
          stream: "events",
          rank: -3,
          text,
        })),
      );
    });
  });

  it("L3 counts a number below 0 from the end, and returns where to continue", async () => {
    const id = await createRun(bench.runs);
    await append(
      id,
      Array.from({ length: 10 }, (_, i) => `line ${i}`),
    );
    const read = async (from: number, limit: number) => {
      const page = await bench.under.logs.readLog({ runId: id, filter: EVERY_LINE, from, limit });
      return { ...page, lines: page.lines.map(({ number }) => number) };
    };
    expect(await read(-3, 100)).toEqual({ lines: [7, 8, 9], next: 10, total: 10, more: false });
    expect(await read(-300, 2)).toEqual({ lines: [0, 1], next: 2, total: 10, more: true });
    expect(await read(10, 2)).toEqual({ lines: [], next: 10, total: 10, more: false });
    expect(await read(12, 2)).toEqual({ lines: [], next: 12, total: 10, more: false });
    expect(await read(8, 2)).toEqual({ lines: [8, 9], next: 10, total: 10, more: false });
    const unknown = { runId: "f".repeat(32), filter: EVERY_LINE, from: -5, limit: 5 };
    expect(await bench.under.logs.readLog(unknown)).toEqual({ lines: [], next: 0, total: 0, more: false });
    expect(await bench.under.logs.lineCount(unknown.runId)).toBe(0);
  });

  it("L3 returns fewer lines than requested when they are long", async () => {
    const id = await createRun(bench.runs);
    const long = "y".repeat(limits.logLineBytesMax);
    for (let i = 0; i < 3; i++)
      await append(
        id,
        Array.from({ length: 40 }, () => long),
      );
    await inEveryForm(bench, async () => {
      const page = await bench.under.logs.readLog({ runId: id, filter: EVERY_LINE, from: 0, limit: 10_000 });
      expect(page).toMatchObject({ total: 120, more: true, next: page.lines.length });
      // On a busy machine the time for one call may be over first.
      expect(page.lines.length).toBeGreaterThan(0);
      expect(page.lines.length).toBeLessThanOrEqual(limits.logReadBytesMax / limits.logLineBytesMax);
      expect(await texts(id)).toHaveLength(120);
    });
  });

  it("L6 merges the lines of thousands of envelopes and changes no answer", async () => {
    const id = await createRun(bench.runs);
    const expected: string[] = [];
    const ranks: number[] = [];
    for (let round = 0; round < 4; round++) {
      const sent = Array.from({ length: 300 }, (_, i) => {
        const own = Array.from(
          { length: 1 + (i % 7) },
          (__, n) => `${round}.${i}.${n} ${"z".repeat((i * n) % 400)}`,
        );
        expected.push(...own);
        ranks.push(...own.map(() => i % 3));
        return envelope(id, 0, { log: [logLines(own, { rank: i % 3 })] });
      });
      for (const outcome of await bench.journal.append(sent, NOW_US)) ackOf(outcome);
      if (round === 1) await bench.under.settle();
      if (round === 2) await bench.reopen();
    }
    await inEveryForm(bench, async () => {
      expect(await texts(id)).toEqual(expected);
      const second = await readAll(bench.under.logs, id, { rank: 1 }, 777);
      expect(second.map(({ text }) => text)).toEqual(expected.filter((_, i) => ranks[i] === 1));
      const found = await searchAll(bench.under.logs, id, { kind: "text", text: ".299.5" });
      expect(found.map(({ text }) => text)).toEqual(expected.filter((text) => text.includes(".299.5")));
      expect((await bench.runs.verifyRun(id)).problems).toEqual([]);
    });
  });

  it("E6 keeps no line of an envelope that is refused, and uses its numbers for the next", async () => {
    const id = await createRun(bench.runs);
    await appendOne(bench.journal, envelope(id, 1, { series: [numbers("loss", [1])] }));
    const wrong = {
      key: "loss",
      labels: [],
      points: { ...numbers("x", []).points, values: { kind: "text" as const, data: [] } },
    };
    const refusal = appendOne(bench.journal, envelope(id, 2, { series: [wrong], log: [logLines(["lost"])] }));
    await expect(refusal).rejects.toEqual(refused("invalid", "KIND_MISMATCH"));
    const [first, second] = await bench.journal.append(
      [envelope(id, 9, { log: [logLines(["gap"])] }), envelope(id, 2, { log: [logLines(["kept"])] })],
      NOW_US,
    );
    expect(first).toEqual({ ok: false, error: refused("precondition", "SEQ_GAP") });
    ackOf(second);
    await inEveryForm(bench, async () => expect(await texts(id)).toEqual(["kept"]));
  });

  it("E2 stores the lines of a repeated envelope once, however they were grouped", async () => {
    const id = await createRun(bench.runs);
    const times = Float64Array.of(NOW_US, NOW_US + 1, NOW_US + 2);
    const whole = () => [logLines(["a", "b", "c"], { times: times.slice() })];
    const parts = () => [
      logLines(["a"], { times: times.slice(0, 1) }),
      logLines([], { stream: "stderr" }),
      logLines(["b", "c"], { times: times.slice(1) }),
    ];
    await appendOne(bench.journal, envelope(id, 1, { log: whole() }));
    for (let round = 0; round < 2; round++) {
      // E10: equal content is recognized, at another time too.
      for (const log of [whole(), parts()]) {
        const again = await appendOne(bench.journal, envelope(id, 1, { log }), NOW_US + 1e6);
        expect(again).toMatchObject({ duplicate: true });
      }
      const others = [
        [logLines(["a", "b", "d"], { times: times.slice() })],
        [logLines(["a", "b", "c"])],
        [logLines(["ab", "c", ""], { times: times.slice() })],
        [logLines(["a", "b", "c"], { times: times.slice(), rank: 0 })],
        [logLines(["a", "b", "c"], { times: times.slice(), stream: "stderr" })],
        [logLines(["a", "b", "c"], { times: times.slice(), origin: "scheduler" })],
        undefined,
      ];
      for (const log of others) {
        const other = appendOne(bench.journal, envelope(id, 1, { log }));
        await expect(other).rejects.toEqual(refused("exists", "SEQ_REUSED"));
      }
      expect(await texts(id)).toEqual(["a", "b", "c"]);
      await bench.under.settle();
    }
  });

  it("U6 destroys the lines with their run, and the next one starts at 0", async () => {
    const id = await createRun(bench.runs);
    const other = await createRun(bench.runs);
    await append(id, ["gone"]);
    await append(other, ["stays"]);
    await bench.under.settle();
    await append(id, ["gone, too"]);
    await bench.runs.setDeleted(id, NOW_US, AUDIT);
    await bench.runs.purgeRun(id, AUDIT);
    await inEveryForm(bench, async () => {
      expect(await bench.under.logs.lineCount(id)).toBe(0);
      expect(await texts(other)).toEqual(["stays"]);
      await expectIntact(bench);
    });
    const next = await createRun(bench.runs);
    await append(next, ["first"]);
    expect(await readAll(bench.under.logs, next)).toMatchObject([{ number: 0, text: "first" }]);
  });

  if (large)
    it("L7 splits a search of any log into steps that each end", async () => {
      const id = await createRun(bench.runs);
      const filler = Array.from({ length: 1_000 }, (_, i) => `${i} `.padEnd(200, "filler "));
      for (let i = 0; i < 10; i++) {
        const sent = Array.from({ length: 40 }, () => envelope(id, 0, { log: [logLines(filler)] }));
        for (const outcome of await bench.journal.append(sent, NOW_US)) ackOf(outcome);
      }
      await append(id, ["the needle"]);
      const total = 400_001;
      for (const pattern of [
        { kind: "text", text: "needle" },
        { kind: "regex", regex: "n[e]+dle" },
      ] as const) {
        let calls = 0;
        const found: number[] = [];
        for (let from = 0; ; calls++) {
          const answer = await bench.under.logs.searchLog({
            runId: id,
            pattern,
            filter: EVERY_LINE,
            from,
            limit: 10,
          });
          expect(answer.searched).toBe(answer.next - from);
          found.push(...answer.lines.map(({ number }) => number));
          if (!answer.more) break;
          expect(answer.next).toBeGreaterThan(from);
          from = answer.next;
        }
        expect(found).toEqual([total - 1]);
        // 80 MB are more than one call may scan.
        expect(calls).toBeGreaterThanOrEqual(1);
      }
    });
}
