import { type OpenedSearch, runSearchContract } from "../contract/run-search/run-search.ts";
import { inSlices } from "#base/threads/in-slices.ts";
import { importanceOf } from "#core/explore/importance.ts";
import type { Field } from "#lang/query/ast.ts";
import { dose } from "../../tools/dose.ts";
import { findFrontier } from "./analysis/find-frontier.ts";
import { OpenTables } from "./analysis/open-tables.ts";
import { RunIndex } from "./index.ts";
import { openColumns } from "./open.ts";
import { PositionGate } from "./position-gate.ts";

async function openThread(): Promise<OpenedSearch> {
  const { search, feed } = openColumns();
  return {
    search,
    apply: (batch) => feed.postMessage(batch),
    close: () => search.close(),
  };
}

async function openIndex(): Promise<OpenedSearch> {
  const index = new RunIndex();
  const tables = new OpenTables(index);
  const gate = new PositionGate(1_000);
  return {
    search: {
      async search(request, position) {
        await gate.wait(position);
        return index.search(request);
      },
      async tally(position, readable) {
        await gate.wait(position);
        return index.tally(readable);
      },
      async best(request, position) {
        await gate.wait(position);
        return inSlices(index.best(request), () => undefined);
      },
      async fields(request, position) {
        await gate.wait(position);
        return inSlices(index.fields(request), () => undefined);
      },
      async importance(request, position) {
        await gate.wait(position);
        const table = await inSlices(tables.open(request, true), () => undefined);
        const column = async (field: Field) => tables.column(table.id, field);
        return importanceOf({ ...table, column }, request.objective, request.bounds);
      },
      async frontier(request, position) {
        await gate.wait(position);
        const { id, count } = await inSlices(tables.open(request, false), () => undefined);
        const table = {
          count,
          column: async (field: Field) => tables.column(id, field),
          identify: async (places: readonly number[]) => tables.identify(id, places),
        };
        return findFrontier(table, request.goals, request.limit, () => undefined);
      },
      close: async () => {},
    },
    apply(batch) {
      index.apply(batch);
      gate.reach(batch.position);
    },
    close: () => {},
  };
}

runSearchContract("columns in a thread", openThread, { cases: 10, positions: true });

runSearchContract("the bare index", openIndex, { cases: dose(100, 2_000), positions: true });
