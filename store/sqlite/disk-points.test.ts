import { artifactStoreContract } from "#store/contract/artifact-store.ts";
import { coreContract } from "#store/contract/core.ts";
import { pointStoreContract } from "#store/contract/point-store.ts";
import { openOnDisk } from "./testing/under-test.ts";

// Apart from disk.test.ts so that the two take turns on two processes.
artifactStoreContract("sqlite on disk", () => openOnDisk());

pointStoreContract("sqlite on disk", () => openOnDisk());

coreContract("sqlite on disk", () => openOnDisk(), { restores: true });
