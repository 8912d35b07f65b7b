import { afterEach, describe } from "vitest";
import { schedulesContract } from "#store/contract/run-store/schedules.ts";
import type { OpenStores } from "#store/contract/stores.ts";
import { openInMemory, openOnDisk } from "#store/sqlite/testing/under-test.ts";
import { dose, tally } from "../tools/dose.ts";

function campaign(open: OpenStores, schedules: number): void {
  afterEach(({ task }) => {
    if (task.result?.state === "pass") tally("schedules", schedules);
  });
  schedulesContract(open, schedules);
}

describe("run store on sqlite in memory", () => campaign(openInMemory, dose(1_000, 9_500)));
describe("run store on sqlite on disk", () => campaign(() => openOnDisk(), dose(100, 500)));
