import { pointStoreContract } from "#store/contract/point-store.ts";
import { runStoreContract } from "#store/contract/run-store.ts";
import { openInMemory } from "./testing/under-test.ts";

runStoreContract("sqlite in memory", openInMemory, { restores: false, schedules: 9_500 });

pointStoreContract("sqlite in memory", openInMemory);
