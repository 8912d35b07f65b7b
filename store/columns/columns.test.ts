import { type OpenedSearch, runSearchContract } from "#store/contract/run-search.ts";
import { dose } from "../../tools/dose.ts";
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
