import type { Transport } from "@connectrpc/connect";
import { QueryCache, QueryClient, QueryObserver } from "@tanstack/react-query";
import { beforeEach, describe, expect, it } from "vitest";
import { RunService } from "#proto/cairn/v1/run_pb.ts";
import { withCallPositions } from "./call-positions.ts";
import { ReadPositions } from "./read-positions.ts";

/** A server whose answers come when the test says so. */
class Answers {
  readonly #waiting: (() => void)[] = [];
  /** Of the next answer. */
  position = "";

  readonly transport = withCallPositions({
    unary: () =>
      new Promise((resolve) => this.#waiting.push(() => resolve({ message: { position: this.position } }))),
  } as unknown as Transport);

  /** Answers the oldest call. */
  async give(position: string): Promise<void> {
    this.position = position;
    this.#waiting.shift()!();
    await settled();
  }
}

/** After every promise and notification that is due. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("the positions of shown answers", () => {
  let answers: Answers;
  let client: QueryClient;
  let positions: ReadPositions;
  let begun: (readonly string[])[];

  beforeEach(() => {
    answers = new Answers();
    const queryCache = new QueryCache();
    positions = new ReadPositions(queryCache);
    client = new QueryClient({
      queryCache,
      defaultOptions: { queries: { behavior: positions.behavior, staleTime: Infinity } },
    });
    begun = [];
  });

  /** Shows the answer of a call, as a component would. */
  function show(...queryKey: string[]): () => void {
    const queryFn = ({ signal }: { signal: AbortSignal }) =>
      answers.transport.unary(RunService.method.searchRuns, signal, undefined, undefined, {});
    return new QueryObserver(client, { queryKey, queryFn }).subscribe(() => undefined);
  }

  function begin(...keys: string[]): () => void {
    const read = keys.map((key) => [key]);
    return positions.whenRead(read, (since) => {
      begun.push(since);
      return () => begun.push(["undone"]);
    });
  }

  it("Z71 a watch waits for the first answer, and begins at the position of every shown one", async () => {
    begin("home");
    await settled();
    show("home", "recent");
    show("home", "running");
    show("other");
    await answers.give("p2");
    expect(begun).toEqual([]);
    await answers.give("p1");
    expect(begun).toEqual([["p2", "p1"]]);
  });

  it("Z71 a cached answer has the position of when it was read, until the next one has arrived", async () => {
    const hide = show("run");
    await answers.give("p1");
    hide();
    show("run");
    void client.invalidateQueries({ queryKey: ["run"] });
    begin("run");
    await settled();
    expect(begun).toEqual([["p1"]]);
    await answers.give("p2");
    client.setQueryData(["run"], "renamed");
    begin("run");
    await settled();
    expect(begun[1]).toEqual(["p2"]);
  });

  it("Z71 a watch does not wait for what was requested after another answer", async () => {
    show("catalogue");
    await answers.give("p1");
    show("chart");
    begin("catalogue", "chart");
    await settled();
    expect(begun).toEqual([["p1"]]);
  });

  it("Z71 answers without a position are read again, unless they came after one with a position", async () => {
    show("lineage");
    await answers.give("");
    show("run");
    await answers.give("p1");
    begin("run", "lineage");
    begin("run");
    show("links");
    await answers.give("");
    begin("run", "links");
    await settled();
    expect(begun).toEqual([[], ["p1"], ["p1"]]);
  });

  it("Z71 what has not begun never begins once it is undone", async () => {
    const never = begin("run");
    never();
    show("run");
    const undo = begin("run");
    await answers.give("p1");
    undo();
    expect(begun).toEqual([["p1"], ["undone"]]);
  });
});
