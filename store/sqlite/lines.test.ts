import { logStoreContract } from "#store/contract/log-store.ts";
import { openInMemory, openOnDisk } from "./testing/under-test.ts";

logStoreContract("sqlite on disk", () => openOnDisk(), { cases: 25 });
logStoreContract("sqlite in memory", openInMemory, { cases: 150 });
