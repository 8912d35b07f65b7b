import { lineageStoreContract } from "#store/contract/lineage-store/lineage-store.ts";
import { openInMemory, openOnDisk } from "#store/sqlite/testing/under-test.ts";
import { dose, isLong, tally } from "../tools/dose.ts";

const inMemory = dose(3, 30);
const onDisk = dose(1, 10);
tally("random graphs", 100 * (inMemory + onDisk));

lineageStoreContract("sqlite on disk", () => openOnDisk(), { batches: onDisk, reachesLimits: isLong });

lineageStoreContract("sqlite in memory", openInMemory, { batches: inMemory, reachesLimits: true });
