import { runSearchContract } from "../contract/run-search/run-search.ts";
import type { RunFeeder } from "../contract/run-feeder.ts";
import { inSlices } from "#base/threads/in-slices.ts";
import { importanceOf } from "#core/explore/importance.ts";
import type { RunSearch } from "#core/ports/run-search.ts";
import type { Field } from "#lang/query/ast.ts";
import { dose } from "../../tools/dose.ts";
import { findFrontier } from "./analysis/find-frontier.ts";
import { OpenTables } from "./analysis/open-tables.ts";
import { Follower } from "./follower.ts";
import { RunIndex } from "./index.ts";
import { openColumns } from "./open.ts";

async function openThread(feeder: RunFeeder): Promise<RunSearch> {
  const { search, follow } = openColumns();
  await follow(feeder.link());
  return search;
}

async function openIndex(feeder: RunFeeder): Promise<RunSearch> {
  const index = new RunIndex();
  const tables = new OpenTables(index);
  const follower = new Follower(feeder, (batch) => index.apply(batch), { deadlineMs: 1_000 });
  return {
    async search(request) {
      await follower.catchUp();
      return index.search(request);
    },
    async searchModels(request) {
      await follower.catchUp();
      return index.searchModels(request);
    },
    async tally(readable) {
      await follower.catchUp();
      return index.tally(readable);
    },
    async best(request) {
      await follower.catchUp();
      return inSlices(index.best(request), () => undefined);
    },
    async fields(request) {
      await follower.catchUp();
      return inSlices(index.fields(request), () => undefined);
    },
    async importance(request) {
      await follower.catchUp();
      const table = await inSlices(tables.open(request, true), () => undefined);
      const column = async (field: Field) => tables.column(table.id, field);
      return importanceOf({ ...table, column }, request.objective, request.bounds);
    },
    async frontier(request) {
      await follower.catchUp();
      const { id, count } = await inSlices(tables.open(request, false), () => undefined);
      const table = {
        count,
        column: async (field: Field) => tables.column(id, field),
        identify: async (places: readonly number[]) => tables.identify(id, places),
      };
      return findFrontier(table, request.goals, request.limit, () => undefined);
    },
    close: async () => {},
  };
}

runSearchContract("columns in a thread", openThread, { cases: 10, positions: true });

runSearchContract("the bare index", openIndex, { cases: dose(100, 2_000), positions: true });
