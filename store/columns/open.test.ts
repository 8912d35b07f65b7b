import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import type { RunFeedBatch } from "#core/ports/run-search.ts";
import { feedRow, idOf, searchRequest } from "#store/contract/run-feeder.ts";
import { type Columns, openColumns } from "./open.ts";

function batch(position: number, keys: readonly number[]): RunFeedBatch {
  const runs = keys.map((key) => feedRow(key, { params: '{"x":1}', name: `run-${key}` }));
  return { position, reset: false, runs, purged: [], metrics: undefined };
}

const unavailable = (reason?: string) =>
  expect.objectContaining({
    name: "CairnError",
    code: "unavailable",
    ...(reason === undefined ? {} : { reason }),
  });

describe("columns in a thread", () => {
  let columns: Columns;
  afterEach(() => columns.search.close());

  it("are fed from another thread through a port handed to it", async () => {
    columns = openColumns();
    const store = new Worker(
      `const { workerData, parentPort } = require("node:worker_threads");
       parentPort.on("message", (batch) => workerData.postMessage(batch));`,
      { eval: true, workerData: columns.feed, transferList: [columns.feed] },
    );
    store.postMessage(batch(4, [1, 2]));
    const found = await columns.search.search(searchRequest('name ~ "-2$" and name ilike "RUN%"'), 4);
    expect(found.ids).toEqual([idOf(2)]);
    await store.terminate();
    expect((await columns.search.search(searchRequest(""), 4)).total).toBe(2);
  });

  it("give up waiting for a change that does not come", async () => {
    columns = openColumns({ behindMsMax: 20 });
    columns.feed.postMessage(batch(4, [1]));
    const late = columns.search.search(searchRequest(""), 5);
    await expect(late).rejects.toEqual(unavailable("SEARCH_BEHIND"));
    await expect(late).rejects.toMatchObject({ facts: { reached: "4" }, hint: expect.any(String) });
    await expect(columns.search.tally(5)).rejects.toEqual(unavailable("SEARCH_BEHIND"));
    expect((await columns.search.search(searchRequest(""), 4)).total).toBe(1);
  });

  it("bring errors back as they were thrown", async () => {
    columns = openColumns();
    const bad = columns.search.search(searchRequest("", { after: "nonsense" }), 0);
    await expect(bad).rejects.toMatchObject({
      name: "CairnError",
      code: "invalid",
      reason: "PAGE_TOKEN",
      hint: "begin again without a page token",
      message: 'cannot read page token "nonsense": it is damaged',
    });
  });

  it("reject everything once their thread has crashed", async () => {
    columns = openColumns();
    const waiting = [columns.search.search(searchRequest(""), 9), columns.search.tally(9)];
    const outcomes = Promise.allSettled(waiting);
    columns.feed.postMessage({ ...batch(1, [1]), runs: [{ ...feedRow(1), params: "damaged" }] });
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: unavailable("SEARCH_ENDED") });
    }
    await expect(columns.search.search(searchRequest(""), 0)).rejects.toEqual(unavailable("SEARCH_ENDED"));
  });

  it("reject everything once they are closed", async () => {
    columns = openColumns();
    const waiting = columns.search.search(searchRequest(""), 9);
    const outcome = expect(waiting).rejects.toEqual(unavailable());
    await columns.search.close();
    await outcome;
    await expect(columns.search.tally(0)).rejects.toEqual(unavailable());
    await columns.search.close();
  });

  it("answer in the order of asking, however many ask", async () => {
    columns = openColumns();
    columns.feed.postMessage(batch(1, [1, 2, 3]));
    const totals = await Promise.all(
      Array.from({ length: 200 }, (_, at) => columns.search.search(searchRequest("", { limit: at % 4 }), 1)),
    );
    totals.forEach(({ ids, total }, at) => expect([ids.length, total]).toEqual([at % 4, 3]));
  });
});
