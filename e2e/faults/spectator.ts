import { expect } from "vitest";
import type { SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import type { WatchEvent } from "#proto/cairn/v1/watch_pb.ts";
import type { Clients } from "#wire/connect/testing/ways.ts";
import type { WriterCheck } from "./writer-check.ts";

const SOON = { timeout: 20_000, interval: 20 };

/** One series as it was watched. */
interface Watched {
  /** Events since the last check, in order of arrival. */
  points: { step: number; value: number; behinds: number }[];
  /** How many of the stored points were found among what came, or were missed and that was said. */
  checked: number;
  /** How often the watch had been behind when the last of them came. */
  behinds: number;
}

/**
 * Watches runs, points and lines over servers that are killed, and resumes from its last position each time. Unless
 * the server says that it is behind, it must get everything that is stored, once and in order, and nothing else.
 */
export class Spectator {
  readonly #namespace: string;
  readonly #writers: readonly WriterCheck[];
  readonly #series = new Map<string, Watched>();
  /** Lines by run. */
  readonly #lines = new Map<string, string[]>();
  readonly #params = new Map<string, Record<string, string>>();
  #position = "";
  #behinds = 0;
  /** How many points came, and how many of them before it began to follow the present server. */
  #came = 0;
  #cameBefore = 0;
  #watching: Promise<void> = Promise.resolve();
  /** What the watch itself got wrong. */
  #wrong: string | undefined;
  /** How many points came after a restart that were written before it. */
  resumed = 0;

  constructor(namespace: string, writers: readonly WriterCheck[]) {
    this.#namespace = namespace;
    this.#writers = writers;
    for (const { writer } of writers) this.#lines.set(writer.runId, []);
  }

  /** Watches from its position on until the server is killed. Resolves when that has begun. */
  async follow({ watch }: Clients): Promise<void> {
    this.#cameBefore = this.#came;
    const stream = watch.watch({
      runs: { namespace: this.#namespace, columns: ["params"] },
      series: this.#writers.map(({ writer }) => ({ run: { id: writer.runId }, glob: `${writer.name}/*` })),
      logs: [...this.#lines].map(([id, lines]) => ({ run: { id }, from: BigInt(lines.length) })),
      position: this.#position,
    });
    const begun = Promise.withResolvers<void>();
    const take = async () => {
      for await (const event of stream) {
        this.#take(event);
        begun.resolve();
      }
    };
    // It ends with the server.
    this.#watching = take().catch(begun.reject);
    await begun.promise;
  }

  /** Once the server is killed. */
  left(): Promise<void> {
    return this.#watching;
  }

  /** Without writers: everything stored arrives, and nothing else. `lines` are all lines, by run. */
  async check({ runs }: Clients, lines: ReadonlyMap<string, readonly string[]>): Promise<void> {
    await expect.poll(() => this.#missing(lines), SOON).toBeUndefined();
    for (const { writer, series } of this.#writers) {
      for (const [key, { steps, values }] of series) this.#checkSeries(key, steps, values);
      expect(this.#lines.get(writer.runId)).toEqual(lines.get(writer.runId));
    }
    for (const [id, known] of this.#params) {
      expect(known).toEqual((await runs.getRun({ run: { id } })).params);
    }
    expect(this.#wrong).toBeUndefined();
    this.resumed += this.#came - this.#cameBefore;
  }

  #take({ event, position }: WatchEvent): void {
    // What is between its own position and that of the start is still to come.
    if (event.case !== "started" || this.#position === "") this.#position = position;
    switch (event.case) {
      case "points":
        for (const series of event.value.series) this.#takePoints(series);
        break;
      case "lines": {
        const known = this.#lines.get(event.value.runId)!;
        for (const { number, text } of event.value.lines) {
          if (Number(number) !== known.length) this.#wrong ??= `line ${number} came after ${known.length}`;
          known.push(text);
        }
        break;
      }
      case "runs":
        for (const { id, params } of event.value.runs) this.#params.set(id, params);
        break;
      case "behind":
        this.#behinds++;
        if (event.value.what.includes("logs")) this.#wrong ??= "lines were said to be missing";
        if (event.value.what.includes("runs")) this.#params.clear();
        break;
      default:
    }
  }

  #takePoints({ key, steps, values }: SeriesPoints): void {
    const watched = this.#watchedOf(key);
    if (steps.length !== values.length)
      this.#wrong ??= `${key}: ${steps.length} steps, ${values.length} values`;
    this.#came += steps.length;
    for (const [i, step] of steps.entries()) {
      watched.points.push({ step: Number(step), value: values[i]!, behinds: this.#behinds });
    }
  }

  #watchedOf(key: string): Watched {
    const watched = this.#series.get(key) ?? { points: [], checked: 0, behinds: 0 };
    this.#series.set(key, watched);
    return watched;
  }

  /** What has not come yet and may still come. */
  #missing(lines: ReadonlyMap<string, readonly string[]>): string | undefined {
    for (const [id, known] of this.#lines) {
      if (known.length < lines.get(id)!.length) return `lines of ${id}`;
    }
    for (const { series } of this.#writers) {
      for (const [key, { steps }] of series) {
        const { points, behinds } = this.#watchedOf(key);
        const lastBehinds = points.at(-1)?.behinds ?? behinds;
        const isThere = steps.length === 0 || points.at(-1)?.step === steps.at(-1);
        if (!isThere && this.#watchedOf(key).checked < steps.length && lastBehinds === this.#behinds) {
          return `points of ${key}`;
        }
      }
    }
    return undefined;
  }

  #checkSeries(key: string, steps: readonly number[], values: readonly number[]): void {
    const watched = this.#watchedOf(key);
    for (const { step, value, behinds } of watched.points) {
      const at = steps.indexOf(step, watched.checked);
      const mayMiss = behinds > watched.behinds;
      if (at < 0 || (at > watched.checked && !mayMiss)) {
        throw new Error(`${key}: step ${step} came where step ${steps[watched.checked]} was to come`);
      }
      if (!Object.is(value, values[at]))
        throw new Error(`${key}: ${value} at step ${step}, not ${values[at]}`);
      watched.checked = at + 1;
      watched.behinds = behinds;
    }
    watched.points = [];
    if (watched.checked < steps.length && watched.behinds === this.#behinds) {
      throw new Error(`${key}: step ${steps[watched.checked]} did not come`);
    }
    // What is left was missed, which was said.
    watched.checked = steps.length;
    watched.behinds = this.#behinds;
  }
}
