import { inspect } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import type { Clock } from "#base/clock.ts";
import { SourceRefSchema } from "#proto/cairn/v1/lineage_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import type { Delivery } from "../delivery/delivery.ts";
import type { Transmitter } from "../delivery/transmitter.ts";
import { encodeFrame, FRAME_KIND } from "../spool/frame.ts";
import type { Spool } from "../spool/spool.ts";
import { watchExit, type EndStatus } from "./exit.ts";
import { Files, type ArtifactOptions, type MediaOptions } from "./files.ts";
import { leftText, reportOf, type FinishReport } from "./finish-report.ts";
import { deliverLeftovers } from "./leftovers.ts";
import { clientLimits } from "./client-limits.ts";
import { limits } from "#lang/limits.ts";
import { quoted, type Notices } from "./notices.ts";
import { Params, type ParamValues } from "./params.ts";
import { cutText, keyProblem } from "./problems.ts";
import { Recorder, type LogOptions, type LogValues } from "./record/recorder.ts";
import { tagTexts, type TagValue, type TagValues } from "./tags.ts";

export type { EndStatus, FinishReport };

/** A capture that lasts as long as the run, such as the console. */
export interface Capture {
  stop(): void;
}

interface LineOptions {
  /** "stdout" by default. */
  stream?: string;
  /** Now by default. */
  timeUs?: number;
}

export interface RunParts {
  spool: Spool;
  delivery: Delivery;
  /** undefined for a run that stays offline. */
  transmitter: Transmitter | undefined;
  notices: Notices;
  clock: Clock;
  /** The token of the server; it never reaches the disk. */
  token(): string | undefined;
  labels: Readonly<Record<string, string>>;
  rank: number | undefined;
  /** Whether this process reports how the run ended. */
  isPrimary: boolean;
  everyCall: boolean;
  heartbeatSeconds: number;
  finishMs: number;
  watchExit: boolean;
}

const STATUSES: Readonly<Record<EndStatus, RunStatus>> = {
  finished: RunStatus.FINISHED,
  failed: RunStatus.FAILED,
  killed: RunStatus.KILLED,
};

/** A run that this process writes. Nothing here waits for the network or throws for errors of the server. */
export class Run {
  readonly params: Params;
  /** 32 hex digits: identifies this process among all that write to the same run. */
  readonly writer: string;
  readonly #parts: RunParts;
  readonly #recorder: Recorder;
  readonly #files: Files;
  readonly #tags = new Set<string>();
  readonly #captures: Capture[] = [];
  readonly #held: Promise<unknown>[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: (() => void) | undefined;
  #spooledMs = performance.now();
  #ended = false;
  #ignoresConsole = false;
  #finishing: Promise<FinishReport> | undefined;
  /** How it ends; the first value counts. */
  #status: EndStatus | undefined;

  constructor(parts: RunParts) {
    const { spool, notices, clock } = parts;
    this.#parts = parts;
    this.writer = spool.writer;
    this.#recorder = new Recorder({
      writer: spool.writer,
      clock,
      notices,
      labels: parts.labels,
      rank: parts.rank,
      everyCall: parts.everyCall,
      append: (kind, seq, frame) => this.#append(kind, seq, frame),
    });
    this.params = new Params(notices, (key, json) => {
      if (this.#isOpen("params")) this.#recorder.param(key, json);
    });
    this.#files = new Files({
      notices,
      folder: spool.folder,
      record: (record) => this.#recorder.artifact(record),
      append: (kind, frame) => this.#append(kind, 0, frame),
    });
    this.#timer = setInterval(() => this.#tick(), clientLimits.collectMs);
    this.#timer.unref();
    this.#unwatch = parts.watchExit ? watchExit(this) : undefined;
  }

  /** Given by the server; undefined until it has answered. */
  get id(): string | undefined {
    return this.#parts.delivery.runId;
  }

  /** Where everything is kept that the server does not have yet. */
  get spoolFolder(): string {
    return this.#parts.spool.folder;
  }

  /** @internal For `init`. */
  get recorder(): Recorder {
    return this.#recorder;
  }

  /** @internal For `init`: what is known at the start. An existing run gets it in an envelope. */
  begin(
    { params = {}, tags = {} }: { params?: ParamValues | undefined; tags?: TagValues | undefined },
    { mayExist = false },
  ): void {
    const { isPrimary, heartbeatSeconds, notices } = this.#parts;
    const paramEntries = this.params.note(params);
    const tagEntries = tagTexts(tags, this.#tags, notices);
    for (const key of tagEntries.keys()) this.#tags.add(key);
    if (mayExist && isPrimary) {
      for (const [key, json] of paramEntries) this.#recorder.param(key, json);
      for (const [key, text] of tagEntries) this.#recorder.tag(key, text);
    }
    const status = mayExist && isPrimary ? RunStatus.RUNNING : 0;
    if (status !== 0 || heartbeatSeconds > 0) this.#recorder.state({ status, heartbeatSeconds });
    this.flush();
  }

  /** @internal The server may have marked it as lost. */
  goOn(): void {
    const { isPrimary, heartbeatSeconds } = this.#parts;
    if (!this.#ended && isPrimary) this.#recorder.state({ status: RunStatus.RUNNING, heartbeatSeconds });
  }

  /** @internal There will be no such run: everything of it is removed. */
  abandon(): void {
    const { spool, transmitter } = this.#parts;
    this.#stopCaptures();
    clearInterval(this.#timer);
    this.#ended = true;
    transmitter?.stop();
    this.#unwatch?.();
    spool.discard();
  }

  /** @internal For `init`: what is stopped when the run ends. */
  add(capture: Capture): void {
    this.#captures.push(capture);
  }

  /** @internal For `init`: what `finish` waits for, as long as there is time. It must not reject. */
  hold(work: Promise<unknown>): void {
    this.#held.push(work);
  }

  /** Adds a point to each series. Values are numbers, bigints, booleans and texts; see LogOptions for the step. */
  log(values: LogValues, options?: LogOptions): void {
    try {
      if (this.#ended) this.#isOpen("log()");
      else this.#recorder.log(values, options);
    } catch (thrown) {
      this.#complain("log", "cannot log", thrown);
    }
  }

  tag(key: string, value: TagValue): void;
  tag(values: TagValues): void;
  tag(given: string | TagValues, value?: TagValue): void {
    if (!this.#isOpen("tag()")) return;
    try {
      const values = typeof given === "object" ? given : { [given]: value };
      for (const [key, text] of tagTexts(values, this.#tags, this.#parts.notices)) {
        this.#tags.add(key);
        this.#recorder.tag(key, text);
      }
    } catch (thrown) {
      this.#complain("tag", "cannot set tags", thrown);
    }
  }

  /** A line of the run's log, or several with line breaks between them. */
  line(text: string, options: LineOptions = {}): void {
    if (this.#isOpen("line()")) this.#addLines(text, options, true);
  }

  /** @internal The same of something that was printed. False where the server forbids recording that. */
  printed(text: string, options: LineOptions = {}): boolean {
    if (this.#ignoresConsole) return false;
    if (this.#isOpen("line()")) this.#addLines(text, options, false);
    return true;
  }

  /** @internal For `init`: what is printed from now on, or waits in memory, is not recorded. */
  ignoreConsole(): void {
    this.#ignoresConsole = true;
    this.#recorder.dropCaptured();
  }

  #addLines(text: string, { stream = "stdout", timeUs }: LineOptions, written: boolean): void {
    try {
      const name =
        cutText(stream, limits.logStreamBytesMax).replaceAll(/[\u0000-\u001f\u007f]/g, " ") || "stdout";
      const at = timeUs !== undefined && Number.isSafeInteger(timeUs) ? timeUs : this.#parts.clock.nowUs();
      const lines = typeof text === "string" ? text : inspect(text);
      for (const line of lines.replace(/\r?\n$/, "").split(/\r?\n/)) {
        this.#recorder.line(line, name, at, written);
      }
    } catch (thrown) {
      this.#complain("line", "cannot log a line", thrown);
    }
  }

  /**
   * A file, which is uploaded, or a location such as `s3://models/7`, which is only noted. Need not be waited for:
   * it resolves once the file is safe in the spool, and never rejects.
   */
  async artifact(
    name: string,
    pathOrUri: string,
    metadata: ParamValues = {},
    options: ArtifactOptions = {},
  ): Promise<void> {
    if (this.#isOpen("artifact()")) await this.#files.artifact(name, pathOrUri, metadata, options);
  }

  /** An image, a sound, a table: bytes, or a file that is copied. By default it belongs to the step of the last `log`. */
  async media(name: string, content: string | Uint8Array, options: MediaOptions = {}): Promise<void> {
    if (!this.#isOpen("media()")) return;
    await this.#files.media(name, content, options, this.#recorder.lastStep);
  }

  /** What this run was made from: the id or an alias of a run, or any other text. */
  source(id: string, artifact = ""): void {
    if (!this.#isOpen("source()")) return;
    try {
      const problem =
        keyProblem(id, limits.sourceBytesMax) ??
        (artifact === "" ? undefined : keyProblem(artifact, limits.sourceBytesMax));
      if (problem !== undefined) throw new Error(problem);
      const body = toBinary(SourceRefSchema, create(SourceRefSchema, { id, artifact }));
      this.#append(FRAME_KIND.source, 0, encodeFrame(FRAME_KIND.source, 0, body));
    } catch (thrown) {
      this.#complain(`source ${quoted(id)}`, `cannot add source ${quoted(id)}`, thrown);
    }
  }

  /** Everything that was logged is in the spool when this returns. Only needed before a crash. */
  flush(): void {
    try {
      this.#recorder.collect();
    } catch (thrown) {
      this.#complain("collect", "cannot write to the spool", thrown);
    }
  }

  /** True when the server has all that was logged before, within the time. */
  async delivered(deadlineMs = this.#parts.finishMs): Promise<boolean> {
    await within(this.#files.prepared(), deadlineMs);
    this.flush();
    return (await this.#parts.transmitter?.delivered(deadlineMs)) ?? false;
  }

  /**
   * Ends the run and waits, at most that long, until the server has everything. What is left then stays in the
   * spool, and the report says where. Calling it again changes nothing.
   */
  finish(
    status: EndStatus = "finished",
    { deadlineMs }: { deadlineMs?: number } = {},
  ): Promise<FinishReport> {
    this.#status ??= status;
    this.#finishing ??= this.#finish(deadlineMs ?? this.#parts.finishMs);
    return this.#finishing;
  }

  async #finish(deadlineMs: number): Promise<FinishReport> {
    const deadline = performance.now() + deadlineMs;
    this.#stopCaptures();
    // The rest of the time is for what was logged.
    await within(Promise.all(this.#held), deadlineMs / 2);
    await within(this.#files.prepared(), Math.max(0, deadline - performance.now()));
    this.#end();
    await this.#parts.transmitter?.delivered(Math.max(0, deadline - performance.now()));
    return this.#close();
  }

  /** @internal For the end of the process. */
  endNow(status: EndStatus, deliverMs: number): void {
    // Another caller may be finishing it with another status.
    this.#status ??= status;
    this.#stopCaptures();
    this.#end();
    const { spool, delivery, transmitter, token, notices } = this.#parts;
    transmitter?.stop();
    this.#unwatch?.();
    const left = spool.waiting.envelopes + spool.waiting.others;
    spool.close();
    if (left === 0) return;
    // A server that was unreachable a moment ago is not waited for.
    const mayDeliver = transmitter !== undefined && transmitter.failure === undefined && spool.isOnDisk;
    if (mayDeliver && deliverLeftovers(spool.folder, token(), deliverMs)) return;
    notices.show(leftText(reportOf(spool, delivery), this.#files.preparing));
  }

  /** @internal */
  crashed(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.printed(text, { stream: "stderr" });
    this.flush();
  }

  #stopCaptures(): void {
    for (const capture of this.#captures.splice(0)) {
      try {
        capture.stop();
      } catch (thrown) {
        this.#complain("capture", "cannot stop watching", thrown);
      }
    }
  }

  #end(): void {
    if (this.#ended) return;
    clearInterval(this.#timer);
    this.flush();
    if (this.#parts.isPrimary) {
      const status = STATUSES[this.#status ?? "finished"] ?? RunStatus.FINISHED;
      this.#recorder.state({ status, endedUs: this.#parts.clock.nowUs() });
    }
    this.#ended = true;
    this.#parts.spool.sync();
  }

  #close(): FinishReport {
    const { spool, transmitter, delivery, notices } = this.#parts;
    transmitter?.stop();
    this.#unwatch?.();
    spool.close();
    const report = reportOf(spool, delivery);
    if (!report.delivered) notices.show(leftText(report, this.#files.preparing));
    return report;
  }

  #append(kind: number, seq: number, frame: Buffer): void {
    this.#spooledMs = performance.now();
    this.#parts.spool.append(kind, seq, frame);
    this.#parts.transmitter?.wake();
  }

  /** Once a second: pending data goes to the spool; without any, a heartbeat when it is due. */
  #tick(): void {
    this.flush();
    const { heartbeatSeconds, transmitter } = this.#parts;
    if (heartbeatSeconds === 0 || transmitter === undefined) return;
    const silentMs = performance.now() - this.#spooledMs + clientLimits.collectMs;
    if (silentMs >= heartbeatSeconds * 1000) this.#recorder.state({ heartbeatSeconds });
  }

  #isOpen(what: string): boolean {
    if (!this.#ended) return true;
    this.#parts.notices.once("ended", `${what} after the run was finished is left out`);
    return false;
  }

  #complain(about: string, what: string, thrown: unknown): void {
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    this.#parts.notices.once(about, `${what}: ${cause}`);
  }
}

/** Waits no longer than that. */
async function within(work: Promise<unknown>, deadlineMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, deadlineMs);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
