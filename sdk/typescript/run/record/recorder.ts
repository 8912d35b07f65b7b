import { create, toBinary } from "@bufbuild/protobuf";
import type { Clock } from "#base/clock.ts";
import { ProvenanceSchema } from "#proto/cairn/v1/run_pb.ts";
import { FRAME_KIND } from "../../spool/frame.ts";
import { EnvelopeWriter, type LineGroup } from "./envelope-writer.ts";
import { clientLimits } from "../client-limits.ts";
import { limits } from "#lang/limits.ts";
import { SeriesTable } from "./series-table.ts";
import { quoted, type Notices } from "../notices.ts";
import type { ProvenanceInit } from "../open-request.ts";
import { cutText } from "../problems.ts";

/** Values by metric key. A nested object becomes keys with "/" between the names. */
export interface LogValues {
  readonly [key: string]: unknown;
}

export interface LogOptions {
  /** A whole number. Absent: the one after the last of this writer. null: the points have no step. */
  step?: number | bigint | null | undefined;
  /** Such as `{ host: "n1" }`: they make series of one key. */
  labels?: Readonly<Record<string, unknown>> | undefined;
  /** A Date, or microseconds since 1970. Absent: now. */
  time?: Date | number | bigint | undefined;
}

export interface RecorderOptions {
  writer: string;
  clock: Clock;
  notices: Notices;
  /** On every series of this writer. */
  labels: Readonly<Record<string, string>>;
  rank: number | undefined;
  /** Every call reaches the spool before it returns. */
  everyCall: boolean;
  /** Names of metrics that are kept apart; as many as a run may have unless a test gives less. */
  seriesMax?: number;
  /** Takes a sealed frame, which may be reused when it returns. */
  append(kind: number, seq: number, frame: Buffer): void;
}

const INTEGER_MAX = 2 ** 53;

/**
 * The pending data of a run between two envelopes. `log` adds to columns in memory and does nothing else; `collect`
 * makes envelopes of everything, numbers them, and hands them over.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #table: SeriesTable;
  readonly #envelope: EnvelopeWriter;
  #lines: LineGroup[] = [];
  #lineCount = 0;
  #params = new Map<string, string>();
  #tags = new Map<string, string>();
  #artifacts: Uint8Array[] = [];
  #pendingBytes = 0;
  #collectedMs = performance.now();
  #seq = 0;
  /** The step of the next call that has none: the one after the last. */
  nextStep = 0;
  /** Of the last call, given or counted. */
  lastStep: number | undefined;
  /** Points that were taken, in all. */
  pointCount = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#envelope = new EnvelopeWriter(options.writer);
    this.#table = new SeriesTable(options.labels, options.notices, () => this.collect(), options.seriesMax);
  }

  get series(): SeriesTable {
    return this.#table;
  }

  /** The number of the last envelope. */
  get seq(): number {
    return this.#seq;
  }

  log(values: LogValues, options?: LogOptions): void {
    let timeUs = this.#options.clock.nowUs();
    let step: number;
    if (options === undefined) {
      step = this.nextStep;
    } else {
      step = options.step === undefined ? this.nextStep : this.#stepOf(options.step);
      if (options.time !== undefined) timeUs = this.#timeOf(options.time, timeUs);
    }
    if (!Number.isNaN(step)) {
      this.lastStep = step;
      this.nextStep = step + 1;
    }
    this.#table.add(values, options?.labels, step, timeUs);
    if (
      this.#options.everyCall ||
      this.#table.pendingPoints >= clientLimits.collectPointsMax ||
      performance.now() - this.#collectedMs >= clientLimits.collectMs
    ) {
      this.collect();
    }
  }

  /** NaN means none. */
  #stepOf(step: unknown): number {
    if (step === null) return Number.NaN;
    const number = typeof step === "bigint" ? Number(step) : step;
    if (typeof number === "number" && Number.isInteger(number) && Math.abs(number) <= INTEGER_MAX)
      return number;
    this.#options.notices.once(
      "step",
      `cannot use step ${quoted(step)}: steps are whole numbers up to 2^53; such points are kept without a step`,
    );
    return Number.NaN;
  }

  #timeOf(time: Date | number | bigint, nowUs: number): number {
    const us = time instanceof Date ? time.getTime() * 1000 : Math.floor(Number(time));
    if (Math.abs(us) <= INTEGER_MAX) return us;
    this.#options.notices.once(
      "time",
      `cannot use time ${quoted(time)}: times are a Date, or microseconds since 1970; the time of the call is taken`,
    );
    return nowUs;
  }

  /** `written` lines are the program's own, others were captured from its console. */
  line(text: string, stream: string, timeUs: number, written = true): void {
    const line = cutText(text, limits.logLineBytesMax);
    if (line.length < text.length) {
      this.#options.notices.once("line", "a log line of more than 64 KiB was cut");
    }
    let group = this.#lines.at(-1);
    if (group === undefined || group.stream !== stream || group.written !== written) {
      group = { stream, written, times: [], lines: [] };
      this.#lines.push(group);
    }
    group.times.push(timeUs);
    group.lines.push(line);
    this.#lineCount++;
    this.#pendingBytes += line.length;
    this.#collectIfMuch(this.#lineCount >= limits.envelopeLinesMax);
  }

  /** Drops the pending captured lines. */
  dropCaptured(): void {
    this.#lines = this.#lines.filter(({ written }) => written);
    this.#lineCount = this.#lines.reduce((count, { lines }) => count + lines.length, 0);
  }

  /** `json` is JSON text. */
  param(key: string, json: string): void {
    this.#params.set(key, json);
    this.#pendingBytes += json.length;
    this.#collectIfMuch(false);
  }

  tag(key: string, value: string): void {
    this.#tags.set(key, value);
    this.#pendingBytes += value.length;
    this.#collectIfMuch(false);
  }

  /** A cairn.v1.ArtifactRecord. */
  artifact(record: Uint8Array): void {
    this.#artifacts.push(record);
    this.#pendingBytes += record.length;
    this.#collectIfMuch(this.#artifacts.length >= limits.envelopeArtifactsMax);
  }

  #collectIfMuch(full: boolean): void {
    if (full || this.#options.everyCall || this.#pendingBytes >= clientLimits.collectBytesMax) this.collect();
  }

  /**
   * Everything that waits, as envelopes. Points and lines have separate ones, so that a param or an artifact
   * that the server refuses for a reason that is unknown here takes no point with it.
   */
  collect(): void {
    this.#collectedMs = performance.now();
    if (this.#params.size > 0 || this.#tags.size > 0) {
      this.#write((envelope) => {
        for (const [key, json] of this.#params) envelope.param(key, json);
        for (const [key, value] of this.#tags) envelope.tag(key, value);
      });
      this.#params = new Map();
      this.#tags = new Map();
    }
    if (this.#artifacts.length > 0) {
      const artifacts = this.#artifacts.splice(0);
      this.#write((envelope) => {
        for (const record of artifacts) envelope.artifact(record);
      });
    }
    if (this.#table.pendingPoints > 0 || this.#lineCount > 0) {
      this.pointCount += this.#table.pendingPoints;
      this.#write((envelope) => {
        this.#table.drain((series) => envelope.series(series));
        for (const group of this.#lines) envelope.lines(group, this.#options.rank);
      });
      this.#lines = [];
      this.#lineCount = 0;
    }
    this.#pendingBytes = 0;
  }

  /** An envelope with provenance, at once: there are few of them, and each may be large. */
  provenance(how: "captured" | "stated", provenance: ProvenanceInit): void {
    const body = toBinary(ProvenanceSchema, create(ProvenanceSchema, provenance));
    this.#write((envelope) => envelope.provenance(how, body));
  }

  /** An envelope with the status of the run; 0 for no status and for no heartbeat. */
  state({ status = 0, endedUs = 0, heartbeatSeconds = 0 }): void {
    this.#write((envelope) => {
      if (status !== 0) envelope.status(status, endedUs);
      if (heartbeatSeconds > 0) envelope.heartbeat(heartbeatSeconds);
    });
  }

  #write(fill: (envelope: EnvelopeWriter) => void): void {
    const seq = ++this.#seq;
    this.#envelope.begin(seq);
    fill(this.#envelope);
    this.#options.append(FRAME_KIND.envelope, seq, this.#envelope.finish());
  }
}
