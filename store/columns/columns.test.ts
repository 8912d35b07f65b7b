import { runSearchContract } from "#store/contract/run-search.ts";
import { RunIndex } from "./index.ts";
import { openColumns } from "./open.ts";
import { PositionGate } from "./position-gate.ts";

runSearchContract("columns in a thread", async () => {
  const { search, feed } = openColumns();
  return {
    search,
    apply: (batch) => feed.postMessage(batch),
    close: () => search.close(),
  };
});

runSearchContract("the bare index", async () => {
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
});
