import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { useLive } from "../../../data/live/hooks.ts";
import type { RunList } from "../../../data/runs/run-list.ts";
import { throttle } from "../../../data/throttle.ts";
import { answersKey } from "./queries.ts";

const REFRESH_MS = 2_000;

/** Refreshes the answers about the runs of the page when one of them has changed. */
export function useFreshAnswers(namespace: string, list: RunList | undefined): void {
  const client = useQueryClient();
  const again = useMemo(
    () => throttle(REFRESH_MS, () => client.invalidateQueries({ queryKey: answersKey(namespace) })),
    [client, namespace],
  );
  useEffect(() => again.stop, [again]);
  // The view of the list itself, so that the server is asked once which of the runs that changed belong to it.
  useLive(list && { kind: "runs", ...list.view }, [answersKey(namespace)], (event) => {
    const isOurs =
      event.kind === "runs" &&
      (event.runs.length > 0 || event.left.some((id) => list?.placeOf(id) !== undefined));
    if (isOurs || event.kind === "stale") again.ask();
  });
}
