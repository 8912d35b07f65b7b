import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { watchExit, type EndStatus } from "./exit.ts";
import { Files, type ArtifactOptions, type MediaOptions } from "./files.ts";
import { leftText, reportOf, type FinishReport } from "./finish-report.ts";
import { deliverLeftovers } from "./leftovers.ts";
import { clientLimits } from "./client-limits.ts";
import type { KeyDescription } from "./statements/key-description.ts";
import { linesOf, streamName, type LineOptions } from "./lines.ts";
import type { ProvenanceInit } from "./open-request.ts";
import { Params, type ParamValues } from "./params.ts";
import { Recorder, type LogOptions, type LogValues } from "./record/recorder.ts";
import type { Capture, RunParts } from "./run-parts.ts";
import { Statements } from "./statements/statements.ts";
import {
  statedProvenance,
  type DataRole,
  type DataVersion,
  type StatedProvenance,
} from "./statements/stated-provenance.ts";
import { within } from "./within.ts";
import { Tags, type TagValue, type TagValues } from "./tags.ts";

export type { EndStatus, FinishReport };

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
  readonly #statements: Statements;
  readonly #tags: Tags;
  readonly #captures: Capture[] = [];
  readonly #held: Promise<unknown>[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #unwatch: (() => void) | undefined;
  #spooledMs = performance.now();
  #ended = false;
  #ignoresConsole = false;
  /** Whether this process says how the run ended. */
  #reportsEnd: boolean;
  #finishing: Promise<FinishReport> | undefined;
  /** How it ends; the first value counts. */
  #status: EndStatus | undefined;

  constructor(parts: RunParts) {
    const { spool, notices, clock } = parts;
    this.#parts = parts;
    this.writer = spool.writer;
    this.#reportsEnd = parts.isPrimary;
    this.#tags = new Tags(notices);
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
    this.#statements = new Statements({
      notices,
      namespace: parts.namespace,
      append: (kind, frame) => this.#append(kind, 0, frame),
      state: (provenance) => this.#recorder.provenance("stated", provenance),
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
    options: StatedProvenance & { params?: ParamValues | undefined; tags?: TagValues | undefined },
    { mayExist = false },
  ): void {
    const { params = {}, tags = {} } = options;
    const { isPrimary, heartbeatSeconds, captured } = this.#parts;
    const paramEntries = this.params.note(params);
    const tagEntries = this.#tags.note(tags);
    if (mayExist && isPrimary) {
      for (const [key, json] of paramEntries) this.#recorder.param(key, json);
      for (const [key, text] of tagEntries) this.#recorder.tag(key, text);
      const stated = statedProvenance(options);
      if (stated !== undefined) this.#recorder.provenance("stated", stated);
    }
    const write = (found: ProvenanceInit) => {
      try {
        this.#recorder.provenance("captured", found);
      } catch (thrown) {
        this.#complain("provenance", "cannot record provenance", thrown);
      }
    };
    if (captured !== undefined) this.hold(captured.deliver(write, { isSent: !mayExist }));
    const status = mayExist && isPrimary ? RunStatus.RUNNING : 0;
    if (status !== 0 || heartbeatSeconds > 0) this.#recorder.state({ status, heartbeatSeconds });
    this.flush();
  }

  /** @internal The server may have marked it as lost. */
  goOn(): void {
    const { heartbeatSeconds } = this.#parts;
    if (!this.#ended && this.#reportsEnd)
      this.#recorder.state({ status: RunStatus.RUNNING, heartbeatSeconds });
  }

  /** @internal There will be no such run: everything of it is removed. */
  abandon(): void {
    const { spool, transmitter, captured } = this.#parts;
    this.#stopCaptures();
    clearInterval(this.#timer);
    this.#ended = true;
    captured?.stop();
    transmitter?.stop();
    this.#unwatch?.();
    spool.discard();
  }

  /** @internal Another run of this process does so from now on. */
  handOver(): void {
    this.#stopCaptures();
    this.#reportsEnd = false;
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
      for (const [key, text] of this.#tags.note(values)) this.#recorder.tag(key, text);
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
      const name = streamName(stream);
      const at = timeUs !== undefined && Number.isSafeInteger(timeUs) ? timeUs : this.#parts.clock.nowUs();
      for (const line of linesOf(text)) this.#recorder.line(line, name, at, written);
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
    if (this.#isOpen("source()")) this.#statements.source(id, artifact);
  }

  /** Data that it uses: `run.data("train", "s3://data/c4", { version: "v3" })`, or `{ digest: "sha256:…" }`. */
  data(role: DataRole, location: string, version: DataVersion = {}): void {
    if (this.#isOpen("data()")) this.#statements.data(role, location, version);
  }

  /** How it is made: texts replace what was stated before, references to data are added. */
  provenance(values: StatedProvenance): void {
    if (this.#isOpen("provenance()")) this.#statements.provenance(values);
  }

  /** What a metric key means in the namespace of the run: `{ unit: "s", direction: "min", min: 0 }`. */
  describe(key: string, description: KeyDescription): void {
    if (this.#isOpen("describe()")) this.#statements.describe(key, description);
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
    this.#parts.captured?.close("the process ended before it was known");
    if (this.#reportsEnd) {
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
