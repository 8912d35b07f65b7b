import { LiveHub } from "./hub.ts";
import { MissedEvents } from "./missed.ts";
import type { Connection, FromHub, LiveEvent, Subscription, ToHub } from "./types.ts";
import { pageKey } from "../page-key.ts";
import { cairn } from "../server.ts";

/**
 * Live changes of the server. One stream serves all tabs of a browser (worker.ts); in a browser without shared workers, the page has its own.
 *
 * A hidden tab queues its events until it becomes visible, so that it draws nothing meanwhile.
 */
const ALIVE_MS = 20_000;

type OnEvent = (event: LiveEvent) => void;
interface Kept {
  subscription: Subscription;
  since: readonly string[];
  onEvent: OnEvent;
  missed: MissedEvents;
}

const kept = new Map<number, Kept>();
const watchers = new Set<() => void>();
let connection: Connection = { state: "connecting", heardMs: 0 };
let lastId = 0;

const post = openLink();

function openLink(): (message: ToHub) => void {
  if (typeof SharedWorker === "undefined") return openOwnHub();
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module" });
  let fallback: ((message: ToHub) => void) | undefined;
  worker.port.addEventListener("message", ({ data }: MessageEvent<FromHub>) => {
    if (data.kind !== "forgotten") return take(data);
    // The changes since then are unknown.
    for (const known of kept.values()) known.since = [];
    addAll(send);
  });
  // The worker could not be loaded: a private window, or a policy of a proxy.
  worker.addEventListener("error", () => {
    if (fallback !== undefined) return;
    fallback = openOwnHub();
    addAll(fallback);
  });
  worker.port.start();
  const send = (message: ToHub) =>
    fallback === undefined ? worker.port.postMessage(message) : fallback(message);
  send({ do: "key", pageKey: pageKey() });
  setInterval(() => send({ do: "alive" }), ALIVE_MS);
  window.addEventListener("pagehide", () => send({ do: "bye" }));
  window.addEventListener("pageshow", ({ persisted }) => {
    // The page returns from the back/forward cache: the worker answers that it is forgotten.
    if (persisted) send({ do: "alive" });
  });
  return send;
}

function addAll(send: (message: ToHub) => void): void {
  for (const [id, { subscription, since }] of kept) send({ do: "add", id, subscription, since });
}

function openOwnHub(): (message: ToHub) => void {
  const hub = new LiveHub(cairn, (now) => take({ kind: "connection", connection: now }));
  return (message) => {
    if (message.do === "add") {
      const { id, subscription, since } = message;
      hub.add(id, subscription, (event) => take({ kind: "event", id, event }), since);
    } else if (message.do === "remove") hub.remove(message.id);
    else if (message.do === "again") hub.again();
  };
}

function take(message: Exclude<FromHub, { kind: "forgotten" }>): void {
  if (message.kind === "connection") {
    connection = message.connection;
    for (const watcher of watchers) watcher();
    return;
  }
  const known = kept.get(message.id);
  if (known === undefined) return;
  if (known.subscription.kind === "log" && message.event.kind === "lines") {
    // For the next connection to the worker.
    known.subscription.from = message.event.next;
  }
  if (document.hidden) known.missed.keep(message.event);
  else known.onEvent(message.event);
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  post({ do: "alive" });
  for (const { missed, onEvent } of kept.values()) for (const event of missed.take()) onEvent(event);
});
window.addEventListener("online", () => post({ do: "again", pageKey: pageKey() }));

/** Notifies of changes after the positions of the shown answers that the subscription selects. Returns a function that unsubscribes. */
export function subscribe(
  subscription: Subscription,
  since: readonly string[],
  onEvent: OnEvent,
): () => void {
  const id = ++lastId;
  kept.set(id, { subscription: { ...subscription }, since, onEvent, missed: new MissedEvents() });
  post({ do: "add", id, subscription, since });
  return () => {
    if (kept.delete(id)) post({ do: "remove", id });
  };
}

/** Connects now: after a sign-in, or when the user asks for it. */
export function connectAgain(): void {
  post({ do: "again", pageKey: pageKey() });
}

export function connectionNow(): Connection {
  return connection;
}

export function onConnection(listener: () => void): () => void {
  watchers.add(listener);
  return () => watchers.delete(listener);
}
