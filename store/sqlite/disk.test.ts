import { describe, expect, it } from "vitest";
import { runStoreContract } from "../contract/run-store/run-store.ts";
import {
  AUDIT,
  appendOne,
  createRun,
  envelope,
  NOW_US,
  numbers,
  readNumbers,
} from "#store/contract/stores.ts";
import { openOnDisk } from "./testing/under-test.ts";
import { startThread } from "./thread.ts";

runStoreContract("sqlite on disk", () => openOnDisk(), { restores: true, schedules: 20 });

describe("sqlite with several readers", () => {
  it("D4 U6 every connection sees what was acknowledged, through folds and purges", async () => {
    // Threads of its own, as a server has them.
    const under = await openOnDisk(4, startThread);
    const id = await createRun(under.runs);
    const readAll = async (run: string, key: string) => {
      // Enough at once that every connection gets some.
      const all = await Promise.all(Array.from({ length: 9 }, () => readNumbers(under.points, run, key)));
      expect(new Set(all.map((values) => values.join())).size).toBe(1);
      return all[0];
    };
    for (let seq = 1; seq <= 12; seq++) {
      await appendOne(under.journal, envelope(id, seq, { series: [numbers("loss", [seq], seq)] }));
      expect(await readAll(id, "loss")).toHaveLength(seq);
      const passing = await createRun(under.runs);
      await appendOne(under.journal, envelope(passing, 1, { series: [numbers("loss", [-seq])] }));
      expect(await readAll(passing, "loss")).toEqual([-seq]);
      if (seq % 4 === 0) await under.settle();
      await under.runs.setDeleted(passing, NOW_US, AUDIT);
      await under.runs.purgeRun(passing, AUDIT);
    }
    await under.discard();
  });
});
