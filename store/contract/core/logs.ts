import { expect, it } from "vitest";
import type { Caller } from "#core/access/caller.ts";
import type { SearchLines, TailLines } from "#core/logs/logs.ts";
import { limits } from "#lang/limits.ts";
import { EVERY_LINE } from "#core/types/log.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { artifactRecord } from "../artifact-record.ts";
import { ADMIN, as, on, openAccess } from "../access-under-test.ts";
import { asked, buildCore, CALLER, NO_CREDENTIAL, type CoreUnderTest } from "../core-under-test.ts";
import { callerWithout } from "../masked-caller.ts";
import { logLines } from "../naive-log.ts";
import { refused, useStores, type OpenStores } from "../stores.ts";

export function coreLogsContract(open: OpenStores): void {
  const bench = useStores(open);

  const start = async (core: CoreUnderTest): Promise<RunRef & { by: "id" }> => {
    const { run } = await core.runs.create(CALLER, asked({ namespace: "lab" }));
    return { by: "id", id: run.id };
  };
  const say = (core: CoreUnderTest, run: RunRef, ...texts: string[]) =>
    core.ingest.write(CALLER, {
      run,
      writer: "",
      seq: 0,
      series: [],
      change: undefined,
      lost: [],
      log: [logLines(texts)],
    });
  const finish = (core: CoreUnderTest, run: RunRef) => core.runs.update(CALLER, run, { status: "finished" });
  const lines = { filter: EVERY_LINE, from: 0, limit: 0 };
  const searched: Omit<SearchLines, "run"> = { ...lines, text: "", regex: "", ignoreCase: false };

  /** Reads a tail, one answer at a time. */
  class Tail {
    readonly #answers: AsyncGenerator<{ lines: { text: string }[]; next: number }>;
    readonly abort = new AbortController();
    next = 0;

    constructor(core: CoreUnderTest, run: RunRef, request: Partial<TailLines> = {}, caller: Caller = CALLER) {
      const wanted = { run, filter: EVERY_LINE, from: 0, follow: false, ...request };
      this.#answers = core.logs.tail(caller, wanted, this.abort.signal);
    }

    /** Of the next answer; undefined at the end. */
    async take(): Promise<string[] | undefined> {
      const answer = await this.#answers.next();
      if (answer.done === true) return undefined;
      ({ next: this.next } = answer.value);
      return answer.value.lines.map(({ text }) => text);
    }

    close(): Promise<unknown> {
      return this.#answers.return(undefined);
    }
  }

  it("L3 returns a thousand lines by default, and at most ten thousand", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    const some = Array.from({ length: 1_000 }, (_, i) => String(i));
    for (let i = 0; i < 11; i++) await say(core, run, ...some);
    const read = async (limit: number) =>
      (await core.logs.read(CALLER, { ...lines, run, limit })).lines.length;
    expect([await read(0), await read(7), await read(limits.logLinesMax)]).toEqual([1_000, 7, 10_000]);
    for (const limit of [-1, 10_001, 1.5]) await expect(read(limit)).rejects.toEqual(refused("invalid"));
    for (const from of [1.5, NaN, 2 ** 53]) {
      await expect(core.logs.read(CALLER, { ...lines, run, from })).rejects.toEqual(refused("invalid"));
    }
    const empty = { ...EVERY_LINE, fromUs: 2, toUs: 1 };
    await expect(core.logs.read(CALLER, { ...lines, run, filter: empty })).rejects.toEqual(
      refused("invalid"),
    );
  });

  it("L5 searches for a text or a pattern, with or without case", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    await say(core, run, "Loss: 1.5", "loss: 2.5", "a+b", "GRÖSSE", "größe", "ſtep 5 \u212aelvin", "a\nb");
    const find = async (request: Partial<SearchLines>) =>
      (await core.logs.search(CALLER, { ...searched, run, ...request })).lines.map(({ number }) => number);
    expect(await find({ text: "loss" })).toEqual([1]);
    expect(await find({ text: "loss", ignoreCase: true })).toEqual([0, 1]);
    expect(await find({ text: "A+B", ignoreCase: true })).toEqual([2]);
    expect(await find({ text: "a+b" })).toEqual([2]);
    expect(await find({ text: "STEP", ignoreCase: true })).toEqual([5]);
    expect(await find({ text: "kelvin", ignoreCase: true })).toEqual([5]);
    expect(await find({ text: "größe", ignoreCase: true })).toEqual([4]);
    expect(await find({ regex: "[Ll]oss: \\d" })).toEqual([0, 1]);
    expect(await find({ regex: "LOSS|A\\+", ignoreCase: true })).toEqual([0, 1, 2]);
    expect(await find({ regex: "^b$" })).toEqual([]);
    expect(await find({ regex: "(?m)^b$" })).toEqual([6]);
    expect(await find({ text: "\n" })).toEqual([6]);
    for (const wrong of [{}, { text: "a", regex: "b" }, { regex: "(" }, { regex: "(?=a)" }]) {
      await expect(find(wrong)).rejects.toEqual(refused("invalid"));
    }
    await expect(find({ text: "x".repeat(1_025) })).rejects.toEqual(refused("invalid"));
    await expect(find({ text: "\ud800" })).rejects.toEqual(refused("invalid"));
  });

  it("S11 refuses patterns that could take long on one line, and finishes with all others", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    const evil = `${"ab".repeat(32_000)}!`;
    await say(core, run, ...Array.from({ length: 20 }, () => evil));
    const patterns = [
      "^(a+)+$",
      "(a|aa)+$",
      "(a*)*b$",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      "(x+x+)+y",
      "[ab]*a[ab]{200}[^ab]{2}",
    ];
    for (const regex of patterns) {
      for (let from = 0; ;) {
        const found = await core.logs.search(CALLER, { ...searched, run, regex, from });
        expect(found.lines).toEqual([]);
        if (!found.more) break;
        expect(found.next).toBeGreaterThan(from);
        from = found.next;
      }
    }
    for (const regex of [
      "[ab]*a[ab]{900}[^ab]",
      "(a.{300}|b.{299}){3}[0-9]",
      "a{1000}b{1000}",
      "((a?b?){20}){40}",
    ]) {
      const search = core.logs.search(CALLER, { ...searched, run, regex });
      await expect(search, regex).rejects.toEqual(refused("invalid"));
    }
  });

  it("L10 sends the requested lines, then lines as they are acknowledged, and ends with the run", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    await say(core, run, "1", "2", "3");
    const all = new Tail(core, run);
    const last = new Tail(core, run, { from: -1 });
    const fresh = new Tail(core, run, { from: undefined });
    expect(await all.take()).toEqual(["1", "2", "3"]);
    expect(await last.take()).toEqual(["3"]);
    expect(await fresh.take()).toEqual([]);
    expect([all.next, last.next, fresh.next]).toEqual([3, 3, 3]);
    const taken = [all, last, fresh].map((tail) => tail.take());
    await say(core, run, "4");
    expect(await Promise.all(taken)).toEqual([["4"], ["4"], ["4"]]);
    // Lines that arrive while the client does not read are sent at once afterwards.
    await say(core, run, "5");
    await say(core, run, "6");
    await finish(core, run);
    for (const tail of [all, last, fresh]) {
      expect(await tail.take()).toEqual(["5", "6"]);
      expect(tail.next).toBe(6);
      expect(await tail.take()).toBeUndefined();
    }
  });

  it("L10 sends lines that came with the envelope that ended the run, and nothing of an ended run twice", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    const tail = new Tail(core, run, { from: undefined });
    expect(await tail.take()).toEqual([]);
    const rest = tail.take();
    const parts = { run, writer: "w", seq: 1, series: [], lost: [] };
    await core.ingest.write(CALLER, { ...parts, change: { status: "failed" }, log: [logLines(["bye"])] });
    expect(await rest).toEqual(["bye"]);
    expect(await tail.take()).toBeUndefined();
    const again = new Tail(core, run);
    expect(await again.take()).toEqual(["bye"]);
    expect(await again.take()).toBeUndefined();
  });

  it("L10 continues after the end of the run with follow", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    await finish(core, run);
    const tail = new Tail(core, run, { follow: true });
    expect(await tail.take()).toEqual([]);
    const late = tail.take();
    await say(core, run, "late");
    expect(await late).toEqual(["late"]);
    await tail.close();
  });

  it("L10 sends a long log in parts, and only lines that the filter selects", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    const some = Array.from({ length: 1_000 }, (_, i) => String(i));
    for (let i = 0; i < 3; i++) {
      const log = [logLines(some, { rank: i }), logLines([])];
      await core.ingest.write(CALLER, {
        run,
        writer: "",
        seq: 0,
        series: [],
        change: undefined,
        lost: [],
        log,
      });
    }
    await finish(core, run);
    const whole = new Tail(core, run);
    let count = 0;
    for (let part = await whole.take(); part !== undefined; part = await whole.take()) {
      expect(part.length).toBeLessThanOrEqual(1_000);
      count += part.length;
    }
    expect(count).toBe(3_000);
    const one = new Tail(core, run, { filter: { ...EVERY_LINE, rank: 2 } });
    expect(await one.take()).toEqual(some);
    expect(await one.take()).toBeUndefined();
  });

  it("L10, B2 ends when the client disconnects and when the server stops", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    const [gone, stopped] = [new Tail(core, run), new Tail(core, run)];
    for (const tail of [gone, stopped]) await tail.take();
    const waiting = gone.take();
    gone.abort.abort();
    await expect(waiting).rejects.toEqual(refused("aborted"));
    const other = stopped.take();
    core.changes.stop();
    await expect(other).rejects.toEqual(refused("unavailable", "STOPPING"));
    // Also in the middle of a long log.
    const some = Array.from({ length: 1_000 }, () => "x");
    for (let i = 0; i < 3; i++) await say(core, run, ...some);
    const late = new Tail(core, run);
    await late.take();
    await expect(late.take()).rejects.toEqual(refused("unavailable", "STOPPING"));
  });

  it("L11 A51 sends no lines of a run that is moved out of sight while they are read", async () => {
    const { logs } = bench.under;
    let next: (() => Promise<unknown>) | undefined;
    const overtaken = new Proxy(logs, {
      get:
        (store, name) =>
        async (...args: unknown[]) => {
          if (name === "readLog") await next?.();
          next = undefined;
          return Reflect.get(store, name).apply(store, args);
        },
    });
    const at = await openAccess({ ...bench.under, logs: overtaken });
    const ada = as(await at.user("ada"), "read");
    await at.bind("ada", "viewer", on("lab"));
    const run = await start(at.core);
    const tail = new Tail(at.core, run, { follow: true }, ada);
    expect(await tail.take()).toEqual([]);
    next = async () => {
      await at.core.runMoves.move(ADMIN, run, "secret");
      await say(at.core, run, "secret");
    };
    const ended = expect(tail.take()).rejects.toEqual(refused("not-found"));
    await say(at.core, run, "said");
    await ended;
  });

  it("L11 shows a log only to callers that may read the run, also in the middle of a tail", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    await say(core, run, "secret");
    const eve = callerWithout({ runs: [run.id] }, "read");
    const missing = await core.logs
      .read(eve, { ...lines, run: { by: "id", id: "0".repeat(32) } })
      .catch(String);
    const calls = [
      (caller: Caller) => core.logs.read(caller, { ...lines, run }),
      (caller: Caller) => core.logs.search(caller, { ...searched, run, text: "e" }),
      (caller: Caller) => new Tail(core, run, {}, caller).take(),
    ];
    for (const call of calls) {
      const refusal: unknown = await call(eve).catch(String);
      expect(refusal).toBe((missing as string).replace("0".repeat(32), run.id));
      await expect(call(NO_CREDENTIAL)).rejects.toEqual(refused("unauthenticated"));
    }
    const rights = { ...CALLER.rights, may: () => allowed.is };
    const allowed = { is: true };
    const tail = new Tail(core, run, {}, { ...CALLER, rights });
    expect(await tail.take()).toEqual(["secret"]);
    // It may be woken before there is anything new.
    const ended = expect(tail.take()).rejects.toEqual(refused("not-found"));
    allowed.is = false;
    await say(core, run, "more");
    await ended;
  });

  it("L11, E6 refuses an artifact that is closed to the writer, with the whole envelope", async () => {
    const core = await buildCore(bench.under);
    const run = await start(core);
    const eve = callerWithout({ artifacts: ["closed"] });
    const parts = { run, writer: "w", series: [], change: { tags: new Map([["t", "x"]]) }, lost: [] };
    const write = (seq: number, name: string) =>
      core.ingest.write(eve, {
        ...parts,
        seq,
        log: [logLines([name])],
        artifacts: [artifactRecord({ name: "open", uri: "s3://a" }), artifactRecord({ name, uri: "s3://b" })],
      });
    await expect(write(1, "closed")).rejects.toEqual(refused("not-found"));
    expect((await core.runs.get(CALLER, run)).tags.size).toBe(0);
    await write(1, "other");
    expect((await core.logs.read(CALLER, { ...lines, run })).lines).toMatchObject([{ text: "other" }]);
    expect(await bench.under.artifacts.findArtifact(run.id, "open", undefined)).toMatchObject({
      uri: "s3://a",
    });
    expect(core.ingest.accepted).toEqual({ envelopes: 1, points: 0, lines: 1 });
  });
}
