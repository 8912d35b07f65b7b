import { setTimeout } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import type { Permission } from "#core/types/permission.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { Account } from "#core/quota/account.ts";
import type { BeginHeavy } from "#core/quota/heavy-answer.ts";
import { EnvelopeSchema, WriteEnvelopesRequestSchema } from "#proto/cairn/v1/metric_pb.ts";
import type { HeldBytes } from "#wire/kit/byte-budget.ts";
import type { Sender } from "#wire/kit/sender.ts";
import type { Traffic } from "#wire/kit/traffic.ts";
import type { ConnectOptions } from "./core.ts";
import { methodName } from "./permission.ts";

/** An answer this small is not counted: what its stream itself takes is more. */
const ANSWER_FREE_BYTES = 16 << 10;

/** How long a stream that is slowed down waits before it checks whether the client is still connected. */
const PACE_MS_MAX = 1_000;

/** What the method of a call needs besides a permission, computed once. */
export interface MethodTraits {
  permission: Permission;
  /** Whether one of the sides sends any number of messages. */
  streams: boolean;
  /** Whether its clients send any number of messages. */
  clientStreams: boolean;
  /** Whether its requests are queued in the backlog of the storage. */
  writes: boolean;
  /** Whether it answers with a position that a watch can begin at. */
  saysPosition: boolean;
  /** Whether it reads so much that calls wait for each other, and end with their caller. */
  expensive: boolean;
}

/**
 * Methods whose work or answer grows with what is stored and that only read. Those that answer with one run are not
 * here: nearly all runs are small, and a call for one should not wait behind searches. They begin expensive work
 * (`beginHeavy`) when the run turns out to be large.
 */
export const EXPENSIVE: ReadonlySet<string> = new Set([
  "cairn.v1.AccessService/ExplainAccess",
  "cairn.v1.AccessService/GetScope",
  "cairn.v1.AccessService/ListAudit",
  "cairn.v1.AccessService/ListPrincipals",
  "cairn.v1.AccessService/ListTokens",
  "cairn.v1.AccessService/VerifyAudit",
  "cairn.v1.AccessService/WhoAmI",
  "cairn.v1.ArtifactService/ListArtifacts",
  "cairn.v1.ArtifactService/SearchModels",
  "cairn.v1.ExploreService/CompareRuns",
  "cairn.v1.ExploreService/GetFrontier",
  "cairn.v1.ExploreService/GetImportance",
  "cairn.v1.ExploreService/ListFields",
  "cairn.v1.LineageService/GetLineage",
  "cairn.v1.LineageService/ListChildren",
  "cairn.v1.LineageService/ListSources",
  "cairn.v1.LogService/ReadLog",
  "cairn.v1.LogService/SearchLog",
  "cairn.v1.MetricService/ListHosts",
  "cairn.v1.MetricService/ListKeys",
  "cairn.v1.MetricService/ListLabels",
  "cairn.v1.MetricService/ListRunKeys",
  "cairn.v1.MetricService/ListSeries",
  "cairn.v1.MetricService/ReadGroups",
  "cairn.v1.MetricService/ReadSeries",
  "cairn.v1.NamespaceService/GetNamespace",
  "cairn.v1.NamespaceService/ListNamespaces",
  "cairn.v1.NamespaceService/ListObjectives",
  "cairn.v1.RunService/SearchRuns",
  "cairn.v1.SystemService/CheckIntegrity",
  "cairn.v1.SystemService/GetInfo",
  "cairn.v1.SystemService/VerifyRun",
]);

const ENVELOPES: ReadonlySet<string> = new Set([
  EnvelopeSchema.typeName,
  WriteEnvelopesRequestSchema.typeName,
]);

export function traitsOf(method: DescMethod, permission: Permission): MethodTraits {
  const kind = method.methodKind;
  return {
    permission,
    streams: kind !== "unary",
    clientStreams: kind === "client_streaming" || kind === "bidi_streaming",
    writes: ENVELOPES.has(method.input.typeName),
    saysPosition: permission === "read" && kind === "unary" && method.output.field["position"] !== undefined,
    expensive: EXPENSIVE.has(methodName(method)),
  };
}

/**
 * The shared resources of one call: a place among its caller's streams, a slot for expensive work,
 * memory for its body and for its answer. `close` releases all of them and must be called when
 * the caller has disconnected or is answered; expensive work stops then.
 */
export class OpenCall {
  readonly #traffic: Traffic;
  #account: Account | undefined;
  #body: HeldBytes | undefined;
  #answer: HeldBytes | undefined;
  #closeStream: (() => void) | undefined;
  #abandoned: AbortController | undefined;
  #endWork: (() => void) | undefined;
  #closed = false;

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
  }

  /** To be called before anything of the body is read. Throws when there is no room for such a call. */
  admit(
    account: Account,
    { streams, writes, permission, expensive }: MethodTraits,
    { core }: Pick<ConnectOptions, "core">,
    headers: Sender["headers"],
  ): void {
    // Authentication may have taken a while.
    if (this.#closed) throw new CairnError("aborted", "cannot answer: the client disconnected");
    const { bodies, answers } = this.#traffic;
    // Of one that says it is larger than any may be, something else will be said.
    const bytes = Math.min(Number(headers["content-length"]) || 1, limits.messageBytesMax);
    bodies.requireRoom(account.owner, bytes);
    if (permission === "read") answers.requireRoom(account.owner);
    if (writes) core.ingest.backlog.requireRoom();
    if (streams) this.#closeStream = account.openStream();
    if (expensive) this.#abandoned = new AbortController();
    this.#account = account;
  }

  /** Of expensive work: aborted when its caller disconnects. */
  get signal(): AbortSignal | undefined {
    return this.#abandoned?.signal;
  }

  /** Resolves when expensive work may begin; of other calls at once. Throws when the caller has disconnected. */
  async startWork(): Promise<void> {
    if (this.#abandoned === undefined || this.#account === undefined) return;
    const end = await this.#traffic.work.take(this.#account.owner, this.#abandoned.signal);
    if (this.#closed) end();
    else this.#endWork = end;
  }

  /** Of a call whose answer turns out to be large, before it is loaded. */
  readonly beginHeavy: BeginHeavy = async (bytes) => {
    if (this.#account === undefined) return undefined;
    this.#abandoned ??= new AbortController();
    const { signal } = this.#abandoned;
    if (this.#closed) this.#abandon();
    if (this.#endWork === undefined) await this.startWork();
    // Answers that wait for their clients have come while this waited for its turn.
    this.#traffic.answers.requireRoom(this.#account.owner, bytes);
    return signal;
  };

  /** The answer is made; that it has to be sent does not count, and nothing is left to be abandoned. */
  endWork(): void {
    this.#endWork?.();
    this.#abandoned = undefined;
  }

  /** Bytes that came of a call's only message. Throws when they are too many at this moment. */
  receive(bytes: number): void {
    this.#account?.receive(bytes);
    this.hold(bytes);
  }

  /** Counts a message of a stream. Resolves when the next one may be read. */
  async pace(bytes: number): Promise<void> {
    let waitMs = this.#account?.paceMs(1, bytes) ?? 0;
    while (waitMs > 0 && !this.#closed) {
      await setTimeout(Math.min(waitMs, PACE_MS_MAX), undefined, { ref: false });
      waitMs = this.#account?.paceMs(0, 0) ?? 0;
    }
  }

  /** Memory for what came of a stream, or for a message that was unpacked. Throws when there is none. */
  hold(bytes: number): void {
    // A call that has ended releases nothing any more.
    if (this.#closed || this.#account === undefined) return;
    this.#body ??= this.#traffic.bodies.open(this.#account.owner);
    this.#body.take(bytes);
  }

  letGo(bytes: number): void {
    if (!this.#closed) this.#body?.give(bytes);
  }

  /** Room for an answer, or a part of one, until `answered`. Throws when there is none. */
  answer(bytes: number): void {
    if (bytes <= ANSWER_FREE_BYTES || this.#closed || this.#account === undefined) return;
    this.#answer ??= this.#traffic.answers.open(this.#account.owner);
    this.#answer.take(bytes);
  }

  /** The client has received it. */
  answered(bytes: number): void {
    if (bytes > ANSWER_FREE_BYTES && !this.#closed) this.#answer?.give(bytes);
  }

  /** Its body is not needed any more. */
  letGoBody(): void {
    this.#body?.giveAll();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#body?.giveAll();
    this.#answer?.giveAll();
    this.#closeStream?.();
    this.#endWork?.();
    this.#abandon();
  }

  #abandon(): void {
    this.#abandoned?.abort(new CairnError("aborted", "cannot answer: the client disconnected"));
  }
}
