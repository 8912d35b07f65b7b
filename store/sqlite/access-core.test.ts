import { coreAccessContract } from "#store/contract/core-access.ts";
import { openOnDisk } from "./testing/under-test.ts";

coreAccessContract("sqlite on disk", () => openOnDisk(), { restores: true });
