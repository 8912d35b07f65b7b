import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AskedTimes } from "./asked.ts";

describe("the time of the requests", () => {
  let client: QueryClient;
  let asked: AskedTimes;

  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000 });
    client = new QueryClient();
    asked = new AskedTimes(client);
  });
  afterEach(() => {
    client.clear();
    vi.useRealTimers();
  });

  /** Shows an answer that takes a while, as a component would. */
  function show(queryKey: string[], answer: () => Promise<unknown>): () => void {
    const observer = new QueryObserver(client, { queryKey, queryFn: answer, staleTime: Infinity });
    return observer.subscribe(() => undefined);
  }
  const after = (ms: number) => () => new Promise((resolve) => setTimeout(() => resolve(ms), ms));

  it("Z71 is that of the request, not of the answer", async () => {
    show(["run", "a"], after(400));
    expect(asked.oldestOf(["run"])).toBe(1_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.oldestOf(["run"])).toBe(1_000);
    // Asked again: until the new answer is there, the old one is shown.
    void client.invalidateQueries({ queryKey: ["run"] });
    await vi.advanceTimersByTimeAsync(100);
    expect(asked.oldestOf(["run"])).toBe(1_000);
    await vi.advanceTimersByTimeAsync(400);
    expect(asked.oldestOf(["run"])).toBe(6_000);
  });

  it("Z71 is that of the oldest shown answer under any of the keys, and now without one", async () => {
    const hide = show(["run", "a"], after(1));
    await vi.advanceTimersByTimeAsync(1_000);
    show(["chart", "loss"], after(1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(asked.oldestOf(["chart"])).toBe(2_000);
    expect(asked.oldestOf(["chart"], ["run"])).toBe(1_000);
    hide();
    expect(asked.oldestOf(["chart"], ["run"])).toBe(2_000);
    expect(asked.oldestOf(["home"])).toBe(3_000);
  });

  it("Z71 does not change when a page sets data itself", async () => {
    show(["run", "a"], after(1));
    await vi.advanceTimersByTimeAsync(1_000);
    client.setQueryData(["run", "a"], "renamed");
    expect(asked.oldestOf(["run"])).toBe(1_000);
  });
});
