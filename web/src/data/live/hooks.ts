import type { QueryKey } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { connectionNow, onConnection, subscribe } from "./live.ts";
import type { Connection, LiveEvent, Subscription } from "./types.ts";
import { readPositions } from "../queries.ts";
import { throttle } from "../throttle.ts";

/**
 * Subscribes while the component is mounted; undefined for no subscription. Subscriptions are compared by content, so a new object on every render is fine. The
 * latest `onEvent` is called.
 *
 * `shown` are the keys of the shown answers, or the position of the one that is shown: changes after that are events. Lines of a log have numbers and need no
 * position ("").
 */
export function useLive(
  subscription: Subscription | undefined,
  shown: readonly QueryKey[] | string,
  onEvent: (event: LiveEvent) => void,
): void {
  const notify = useEffectEvent(onEvent);
  const whenRead = useEffectEvent((begin: (since: readonly string[]) => () => void) => {
    if (typeof shown !== "string") return readPositions.whenRead(shown, begin);
    return begin(shown === "" ? [] : [shown]);
  });
  const key = JSON.stringify(subscription, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  useEffect(() => {
    if (subscription === undefined) return undefined;
    return whenRead((since) => subscribe(subscription, since, (event) => notify(event)));
    // The key identifies the subscription.
  }, [key]);
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnection, connectionNow);
}

const REFRESH_MS = 1_000;

/**
 * Calls when a run has changed after the data under the key was read, at most every `everyMs`. If the call returns a promise,
 * the next call waits for it.
 */
export function useRunChanges(shown: QueryKey, onChange: () => unknown, everyMs = REFRESH_MS): void {
  const notify = useEffectEvent(onChange);
  useEffect(() => {
    const { ask, stop } = throttle(everyMs, () => notify());
    const unwatch = readPositions.whenRead([shown], (since) =>
      subscribe({ kind: "changes" }, since, () => ask()),
    );
    return () => {
      unwatch();
      stop();
    };
  }, []);
}
