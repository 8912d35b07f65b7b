import { describe } from "vitest";
import { schedulesContract } from "#store/contract/run-store-schedules.ts";
import { openInMemory, openOnDisk } from "#store/sqlite/testing/under-test.ts";

// 10,000 in all, which takes longer than a unit test may; a few of each are among the unit tests.
describe("run store on sqlite in memory", () => schedulesContract(openInMemory, 9_500));
describe("run store on sqlite on disk", () => schedulesContract(() => openOnDisk(), 500));
