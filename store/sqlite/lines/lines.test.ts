import { logStoreContract } from "../../contract/log-store/log-store.ts";
import { dose } from "../../../tools/dose.ts";
import { openInMemory, openOnDisk } from "../testing/under-test.ts";

logStoreContract("sqlite on disk", () => openOnDisk(), { cases: dose(5, 25), large: false });
logStoreContract("sqlite in memory", openInMemory, { cases: dose(60, 500), large: true });
