import { lineageStoreContract } from "#store/contract/lineage-store.ts";
import { openInMemory, openOnDisk } from "#store/sqlite/testing/under-test.ts";

lineageStoreContract("sqlite on disk", () => openOnDisk());

lineageStoreContract("sqlite in memory", openInMemory);
