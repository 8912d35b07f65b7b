import { Code } from "@connectrpc/connect";
import type { RunsChanged, WatchEvent } from "#proto/cairn/v1/watch_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { limits } from "#lang/limits.ts";
import { Failure } from "#sdk/failure.ts";
import type { Connection as StreamConnection } from "#sdk/follow-stream.ts";
import { searchRuns } from "#sdk/pages.ts";
import { Backoff } from "#sdk/retry.ts";
import { watch } from "#sdk/watch.ts";
import { mergeSubscriptions, queryAmong, viewKey, WATCHED_MAX, type Merged } from "./merge.ts";
import type { Connection, LiveEvent, LiveState, RunsView, Subscription } from "./types.ts";

/** Pages add many subscriptions at once: they are collected for a moment before the request. */
const GATHER_MS = 20;
const GONE_MAX = 10_000;
/** Ids that fit into a query. */
const AMONG_MAX = 300;
/** With more changed runs in one event it is cheaper to read the shown data again. */
const ASKED_MAX = 1_200;

interface Listener {
  subscription: Subscription;
  /** Positions of the answers that the listener shows, none if unknown. Undefined as soon as a stream with this subscription has begun. */
  since: readonly string[] | undefined;
  deliver: (event: LiveEvent) => void;
}

type HubCairn = Pick<Cairn, "url" | "watch" | "runs">;

/**
 * Holds the one watch. When the subscriptions change, another watch is opened from the position of the last one, or from the answers that a new listener shows, if
 * these are older; then the other listeners get some events again. When the server does not keep the changes any more (after a long interruption), the event is
 * `stale`.
 */
export class LiveHub {
  readonly #cairn: HubCairn;
  readonly #onConnection: (connection: Connection) => void;
  readonly #listeners = new Map<number, Listener>();
  #connection: Connection = { state: "connecting", heardMs: 0 };
  #position = "";
  #current: AbortController | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  readonly #backoff = new Backoff();
  /** One of several new subscriptions was refused: these are tried one after the other. */
  #untried: number[] = [];
  /** Runs that do not exist on the server any more. */
  readonly #gone = new Set<string>();

  constructor(cairn: HubCairn, onConnection: (connection: Connection) => void) {
    this.#cairn = cairn;
    this.#onConnection = onConnection;
  }

  get connection(): Connection {
    return this.#connection;
  }

  /**
   * Notifies of every change after the positions `since` of the shown answers. Without positions the first event is `stale`; lines of a log have numbers and need
   * none.
   */
  add(
    id: number,
    subscription: Subscription,
    deliver: (event: LiveEvent) => void,
    since: readonly string[] = [],
  ): void {
    // A copy: the next line of a log is stored in it.
    this.#listeners.set(id, { subscription: { ...subscription }, since, deliver });
    this.#gather();
  }

  remove(id: number): void {
    if (this.#listeners.delete(id)) this.#gather();
  }

  /** Opens the stream now instead of waiting. */
  again(): void {
    // Another user, with more rights, may be signed in now.
    this.#gone.clear();
    this.#open();
  }

  close(): void {
    this.#listeners.clear();
    this.#stop();
  }

  #gather(): void {
    this.#gathering ??= setTimeout(() => this.#open(), GATHER_MS);
  }

  #stop(): void {
    clearTimeout(this.#gathering);
    clearTimeout(this.#retry);
    this.#gathering = undefined;
    this.#retry = undefined;
    this.#current?.abort();
    this.#current = undefined;
  }

  #open(): void {
    this.#stop();
    const wanted = new Map(
      [...this.#listeners]
        .filter(([id]) => !this.#untried.includes(id))
        .map(([id, { subscription }]) => [id, subscription]),
    );
    const merged = mergeSubscriptions(wanted, this.#gone);
    for (const id of merged.leftOut) this.#refuse(id, `more than ${WATCHED_MAX} runs are watched`);
    // Without a stream the position at which the next one should begin is unknown.
    if (merged.isEmpty) this.#forgetPosition();
    else {
      const call = new AbortController();
      this.#current = call;
      void this.#listen(merged, new Set(wanted.keys()), call);
    }
  }

  async #listen(merged: Merged, ids: ReadonlySet<number>, call: AbortController): Promise<void> {
    const { signal } = call;
    const fresh = this.#among(ids).filter(({ since }) => since !== undefined);
    const since = [...new Set(fresh.flatMap((listener) => listener.since ?? []))];
    since.length = Math.min(since.length, limits.watchSinceMax);
    const onConnection = ({ state, heardMs }: StreamConnection) => {
      // One stream replaces another: the connection is not lost.
      if (this.#current === call && state !== "connecting") this.#notify(state, heardMs);
    };
    try {
      const request = { ...merged.request, position: this.#position, since };
      for await (const event of watch(this.#cairn, request, { signal, onConnection })) {
        if (this.#current !== call) return;
        if (event.event.case === "started") {
          this.#begin(this.#among(ids), new Set(since));
          if (this.#untried.shift() !== undefined) this.#gather();
        }
        await this.#take(event, merged, this.#among(ids), signal);
        this.#position = event.position;
      }
    } catch (thrown) {
      this.#end(thrown, ids, call);
    } finally {
      call.abort();
    }
  }

  /** The stream has begun, at the earliest of these positions or before. */
  #begin(listeners: readonly Listener[], begunSince: ReadonlySet<string>): void {
    for (const listener of listeners) {
      const { since } = listener;
      listener.since = undefined;
      if (since === undefined) continue;
      const isComplete = since.length > 0 && since.every((position) => begunSince.has(position));
      if (!isComplete) this.#notifyStale(["runs", "series"], [listener]);
    }
  }

  /** The next stream begins now, so every listener has to read again. */
  #forgetPosition(): void {
    this.#position = "";
    for (const listener of this.#listeners.values()) listener.since ??= [];
  }

  /** The server refuses the request, or the way to it is closed. */
  #end(thrown: unknown, ids: ReadonlySet<number>, call: AbortController): void {
    if (this.#current !== call) return;
    this.#current = undefined;
    const failure = Failure.from(thrown);
    const { code, message, facts } = failure;
    if (code === Code.Unauthenticated) {
      this.#forgetPosition();
      this.#notify("signed-out");
      return;
    }
    if (code === Code.NotFound && facts["run"] !== undefined && !this.#gone.has(facts["run"])) {
      this.#leaveOut(facts["run"], message);
      return this.#gather();
    }
    if (code === Code.InvalidArgument || code === Code.NotFound || code === Code.PermissionDenied) {
      if (this.#refuseOneOf(ids, message)) return this.#gather();
    }
    this.#notify("lost");
    this.#retry = setTimeout(() => this.#open(), this.#backoff.next(failure));
  }

  /** A run was purged or does not exist: its subscriptions get `refused`, all others continue. */
  #leaveOut(runId: string, message: string): void {
    if (this.#gone.size >= GONE_MAX) this.#gone.clear();
    this.#gone.add(runId);
    for (const [id, { subscription }] of this.#listeners) {
      const isOver =
        subscription.kind === "series"
          ? subscription.runIds.every((each) => this.#gone.has(each))
          : subscription.kind === "log" && this.#gone.has(subscription.runId);
      if (isOver) this.#refuse(id, message);
    }
  }

  /** One subscription makes the request invalid: one of the newest, or else one whose run does not exist any more. */
  #refuseOneOf(ids: ReadonlySet<number>, message: string): boolean {
    const fresh = [...ids].filter((id) => this.#listeners.get(id)?.since !== undefined);
    if (fresh.length > 1) {
      this.#untried.push(...fresh.slice(1));
      return true;
    }
    const suspects =
      fresh.length === 1
        ? fresh
        : [...ids].filter((id) => this.#listeners.get(id)?.subscription.kind !== "changes");
    for (const id of suspects) this.#refuse(id, message);
    this.#untried.shift();
    return suspects.length > 0;
  }

  #refuse(id: number, message: string): void {
    const listener = this.#listeners.get(id);
    if (listener === undefined) return;
    this.#listeners.delete(id);
    listener.deliver({ kind: "refused", message });
  }

  #notify(state: LiveState, heardMs = 0): void {
    const before = this.#connection;
    // A stream without a message yet knows less than the one before it.
    const latestMs = Math.max(heardMs, before.heardMs);
    if (state === before.state && latestMs === before.heardMs) return;
    this.#connection = { state, heardMs: latestMs };
    this.#onConnection(this.#connection);
  }

  /** Those that still exist. */
  #among(ids: Iterable<number>): Listener[] {
    return [...ids].flatMap((id) => this.#listeners.get(id) ?? []);
  }

  /** Notifies the subscriptions that the stream was opened for: newer ones are notified by the next stream. */
  async #take(
    { event }: WatchEvent,
    merged: Merged,
    listeners: readonly Listener[],
    signal: AbortSignal,
  ): Promise<void> {
    switch (event.case) {
      case "runs":
        for (const { subscription, deliver } of listeners) {
          if (subscription.kind === "changes") deliver({ kind: "changes" });
        }
        if (merged.isSole) this.#deliverRuns(event.value, listeners);
        else await this.#askViews(event.value, listeners, signal);
        break;
      case "points": {
        const { runId, series } = event.value;
        for (const { subscription, deliver } of listeners) {
          if (subscription.kind === "series" && subscription.runIds.includes(runId)) {
            deliver({ kind: "points", runId, series });
          }
        }
        break;
      }
      case "lines": {
        const { runId, lines, next } = event.value;
        for (const { subscription, deliver } of listeners) {
          if (subscription.kind !== "log" || subscription.runId !== runId) continue;
          // Others may have requested earlier lines.
          const wanted = lines.filter(({ number }) => number >= subscription.from);
          if (next > subscription.from) subscription.from = next;
          if (wanted.length > 0) deliver({ kind: "lines", lines: wanted, next });
        }
        break;
      }
      case "behind":
        this.#notifyStale(event.value.what, listeners);
        break;
      default:
    }
  }

  #notifyStale(kinds: readonly string[], listeners: readonly Listener[]): void {
    for (const { subscription, deliver } of listeners) {
      const { kind } = subscription;
      const what = kind === "series" ? "series" : kind === "log" ? "logs" : "runs";
      if (kinds.includes(what)) deliver({ kind: "stale" });
    }
  }

  #deliverRuns({ runs, left }: RunsChanged, listeners: readonly Listener[]): void {
    for (const { subscription, deliver } of listeners) {
      if (subscription.kind === "runs") deliver({ kind: "runs", runs, left });
    }
  }

  /** Searches, for each view, which of the changed runs it selects; once for equal views. */
  async #askViews(
    { runs, left }: RunsChanged,
    listeners: readonly Listener[],
    signal: AbortSignal,
  ): Promise<void> {
    const ids = [...runs.map(({ id }) => id), ...left];
    const sharing = new Map<string, { view: RunsView; deliverers: ((event: LiveEvent) => void)[] }>();
    for (const { subscription, deliver } of listeners) {
      if (subscription.kind !== "runs") continue;
      const key = viewKey(subscription);
      const known = sharing.get(key) ?? { view: subscription, deliverers: [] };
      known.deliverers.push(deliver);
      sharing.set(key, known);
    }
    for (const { view, deliverers } of sharing.values()) {
      const event =
        ids.length > ASKED_MAX ? ({ kind: "stale" } as const) : await this.#ask(view, ids, signal);
      for (const deliver of deliverers) deliver(event);
    }
  }

  async #ask(view: RunsView, ids: readonly string[], signal: AbortSignal): Promise<LiveEvent> {
    const { namespace, columns } = view;
    const found = [];
    for (let at = 0; at < ids.length; at += AMONG_MAX) {
      const query = queryAmong(view, ids.slice(at, at + AMONG_MAX));
      const request = { query, namespace, columns: [...columns], pageSize: AMONG_MAX };
      found.push(...(await searchRuns(this.#cairn, request, { signal })).runs);
    }
    const matching = new Set(found.map(({ id }) => id));
    return { kind: "runs", runs: found, left: ids.filter((id) => !matching.has(id)) };
  }
}
