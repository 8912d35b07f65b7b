import { pointStoreContract } from "#store/contract/point-store.ts";
import { runStoreContract } from "#store/contract/run-store.ts";
import { openOnDisk } from "./testing.ts";

runStoreContract("sqlite on disk", openOnDisk, { restores: true, schedules: 500 });

pointStoreContract("sqlite on disk", openOnDisk);
