/** Runs once per browser and holds the stream for all tabs: without TLS a browser opens at most six connections to a server. */
import { LiveHub } from "./hub.ts";
import type { FromHub, LiveEvent, ToHub } from "./types.ts";
import { keepPageKey } from "../page-key.ts";
import { cairn } from "../server.ts";

declare const self: SharedWorkerGlobalScope;

/** A crashed tab sends no messages; a background tab may send them late. */
const SILENT_MS_MAX = 180_000;
const SWEEP_MS = 30_000;

interface Tab {
  /** Ids of the tab to ids of the hub. */
  ids: Map<number, number>;
  seenMs: number;
}

const tabs = new Map<MessagePort, Tab>();
let lastId = 0;
const hub = new LiveHub(cairn, (connection) => {
  for (const port of tabs.keys()) post(port, { kind: "connection", connection });
});

function post(port: MessagePort, message: FromHub): void {
  port.postMessage(message);
}

function greet(port: MessagePort): Tab {
  const tab = { ids: new Map<number, number>(), seenMs: Date.now() };
  tabs.set(port, tab);
  return tab;
}

function forget(port: MessagePort): void {
  const tab = tabs.get(port);
  if (tab === undefined) return;
  for (const id of tab.ids.values()) hub.remove(id);
  tab.ids.clear();
  tabs.delete(port);
}

function take(port: MessagePort, message: ToHub): void {
  let tab = tabs.get(port);
  if (tab === undefined) {
    tab = greet(port);
    // A tab that its browser had suspended does not know that its subscriptions were removed.
    post(port, { kind: "forgotten" });
  }
  tab.seenMs = Date.now();
  switch (message.do) {
    case "add": {
      const [id, before] = [++lastId, tab.ids.get(message.id)];
      if (before !== undefined) hub.remove(before);
      tab.ids.set(message.id, id);
      const deliver = (event: LiveEvent) => post(port, { kind: "event", id: message.id, event });
      hub.add(id, message.subscription, deliver, message.since);
      break;
    }
    case "remove": {
      const id = tab.ids.get(message.id);
      tab.ids.delete(message.id);
      if (id !== undefined) hub.remove(id);
      break;
    }
    case "key":
      keepPageKey(message.pageKey);
      break;
    case "again":
      keepPageKey(message.pageKey);
      hub.again();
      break;
    case "alive":
      break;
    case "bye":
      forget(port);
  }
}

self.addEventListener("connect", ({ ports: [port] }) => {
  if (port === undefined) return;
  port.addEventListener("message", ({ data }: MessageEvent<ToHub>) => take(port, data));
  port.start();
  greet(port);
  post(port, { kind: "connection", connection: hub.connection });
});

setInterval(() => {
  const oldest = Date.now() - SILENT_MS_MAX;
  for (const [port, { seenMs }] of tabs) if (seenMs < oldest) forget(port);
}, SWEEP_MS);
