import { afterEach, describe, expect, it } from "vitest";
import { feedRow, idOf, RunFeeder, searchRequest } from "#store/contract/run-feeder.ts";
import { type Columns, openColumns } from "./open.ts";

const row = (key: number) => feedRow(key, { params: '{"x":1}', name: `run-${key}` });

const unavailable = (reason?: string) =>
  expect.objectContaining({
    name: "CairnError",
    code: "unavailable",
    ...(reason === undefined ? {} : { reason }),
  });

describe("columns in a thread", () => {
  let columns: Columns;
  let feeder: RunFeeder;
  afterEach(() => columns.search.close());

  async function open(options?: Parameters<typeof openColumns>[0]): Promise<void> {
    columns = openColumns(options);
    feeder = new RunFeeder();
    await columns.follow(feeder.link());
  }

  it("J3 refuse to answer before they follow a store", async () => {
    columns = openColumns();
    await expect(columns.search.tally()).rejects.toEqual(unavailable());
  });

  it("J3 request nothing when nothing was acknowledged since", async () => {
    await open();
    feeder.tell({ runs: [row(1), row(2)] });
    const found = await columns.search.search(searchRequest('name ~ "-2$" and name ilike "RUN%"'));
    expect(found.ids).toEqual([idOf(2)]);
    const { asked } = feeder;
    for (let i = 0; i < 5; i++) expect((await columns.search.search(searchRequest(""))).total).toBe(2);
    expect(feeder.asked).toBe(asked);
  });

  it("J3 H12 stop waiting for a change that does not arrive, without revealing how many there are", async () => {
    await open({ behindMsMax: 20 });
    feeder.tell({ runs: [row(1)], position: 4 });
    expect((await columns.search.search(searchRequest(""))).total).toBe(1);
    feeder.announce(5);
    const late = columns.search.search(searchRequest(""));
    await expect(late).rejects.toEqual(unavailable("SEARCH_BEHIND"));
    await expect(late).rejects.toMatchObject({
      message: "cannot search runs: the newest changes have not arrived within 0.02 s",
      facts: {},
      hint: expect.any(String),
    });
    await expect(columns.search.tally()).rejects.toEqual(unavailable("SEARCH_BEHIND"));
    feeder.tell({ runs: [row(2)] });
    expect((await columns.search.search(searchRequest(""))).total).toBe(2);
  });

  it("pass errors on as they were thrown", async () => {
    await open();
    const bad = columns.search.search(searchRequest("", { after: "nonsense" }));
    await expect(bad).rejects.toMatchObject({
      name: "CairnError",
      code: "invalid",
      reason: "PAGE_TOKEN",
      hint: "begin again without a page token",
      message: 'cannot read page token "nonsense": it is damaged',
    });
  });

  it("reject everything once their thread has crashed", async () => {
    await open();
    feeder.announce(9);
    const waiting = [columns.search.search(searchRequest("")), columns.search.tally()];
    const outcomes = Promise.allSettled(waiting);
    feeder.tell({ runs: [{ ...feedRow(1), params: "damaged" }] });
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: unavailable("SEARCH_ENDED") });
    }
    await expect(columns.search.search(searchRequest(""))).rejects.toEqual(unavailable("SEARCH_ENDED"));
  });

  it("reject everything once they are closed", async () => {
    await open();
    feeder.announce(9);
    const waiting = columns.search.search(searchRequest(""));
    const outcome = expect(waiting).rejects.toEqual(unavailable());
    await columns.search.close();
    await outcome;
    await expect(columns.search.tally()).rejects.toEqual(unavailable());
    await columns.search.close();
  });

  it("answer in the order of the calls, however many there are", async () => {
    await open();
    feeder.tell({ runs: [row(1), row(2), row(3)] });
    const totals = await Promise.all(
      Array.from({ length: 200 }, (_, at) => columns.search.search(searchRequest("", { limit: at % 4 }))),
    );
    totals.forEach(({ ids, total }, at) => expect([ids.length, total]).toEqual([at % 4, 3]));
  });
});
