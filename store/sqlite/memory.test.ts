import { artifactStoreContract } from "#store/contract/artifact-store.ts";
import { pointStoreContract } from "#store/contract/point-store.ts";
import { runStoreContract } from "#store/contract/run-store.ts";
import { openInMemory } from "./testing/under-test.ts";

runStoreContract("sqlite in memory", openInMemory, { restores: false, schedules: 500 });

artifactStoreContract("sqlite in memory", openInMemory);

pointStoreContract("sqlite in memory", openInMemory);
