import { describe, expect, it } from "vitest";
import { mergeSubscriptions, queryAmong, WATCHED_MAX } from "./merge.ts";
import type { Subscription } from "./types.ts";

const A = {
  kind: "runs",
  query: "params.lr < 1 order by metrics.loss",
  namespace: "a/b",
  columns: ["params.lr"],
} as const;
const B = { kind: "runs", query: "", namespace: "", columns: ["metrics.loss.last", "tags"] } as const;
const CHANGES = { kind: "changes" } as const;

function merge(...wanted: Subscription[]) {
  return mergeSubscriptions(new Map(wanted.map((one, i) => [i + 1, one])));
}

describe("one request for all", () => {
  it("Z71 sends a single view unchanged, and uses the answers directly", () => {
    const { request, isSole } = merge(A, { ...A });
    expect(request.runs).toEqual({ query: A.query, namespace: "a/b", columns: ["params.lr"] });
    expect(isSole).toBe(true);
  });

  it("Z71 subscribes to all changes beside a view without losing the view", () => {
    const { request, isSole } = merge(A, CHANGES);
    expect(request.runs).toEqual({
      query: 'params.lr < 1 and namespace under "a/b"',
      namespace: "",
      columns: ["params.lr"],
    });
    expect(isSole).toBe(true);
    expect(merge(CHANGES).request.runs).toMatchObject({ query: "", namespace: "" });
  });

  it("Z71 joins several views, and keeps metrics among the columns so that points count", () => {
    const { request, isSole } = merge(A, B);
    expect(request.runs).toEqual({
      query: 'params.lr < 1 and namespace under "a/b" or id is not null',
      namespace: "",
      columns: ["aliases", "metrics.loss.last"],
    });
    expect(isSole).toBe(false);
  });

  it("Z71 names a run once, and a log from the first subscribed line", () => {
    const { request } = merge(
      { kind: "series", runIds: ["r1", "r2"] },
      { kind: "series", runIds: ["r2", "r3"] },
      { kind: "log", runId: "r1", from: 40n },
      { kind: "log", runId: "r1", from: 12n },
    );
    expect(request.series).toEqual([{ run: { id: "r1" } }, { run: { id: "r2" } }, { run: { id: "r3" } }]);
    expect(request.logs).toEqual([{ run: { id: "r1" }, from: 12n }]);
  });

  it("Z71 leaves out subscriptions that the server would refuse, and names them", () => {
    const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => `r${from + i}`);
    const { request, leftOut } = merge(
      { kind: "series", runIds: ids(0, WATCHED_MAX - 1) },
      { kind: "series", runIds: ids(5_000, 2) },
      { kind: "series", runIds: ids(0, 10) },
      { kind: "series", runIds: ids(6_000, 1) },
    );
    expect(request.series).toHaveLength(WATCHED_MAX);
    expect([...leftOut]).toEqual([2]);
    expect(merge().isEmpty).toBe(true);
  });

  it("Z71 watches every run when the joined queries are too long", () => {
    const long = { ...A, query: `name = "${"x".repeat(9_000)}"` };
    const { request } = merge(long, { ...long, namespace: "c" });
    expect(request.runs?.query).toBe("id is not null");
  });

  it("Z71 removes the order of a query", () => {
    expect(queryAmong(A, ["r1", "r2"])).toBe('params.lr < 1 and id in ("r1", "r2")');
    expect(queryAmong(B, ["r1"])).toBe('id in ("r1")');
  });
});
