import { artifactStoreContract } from "../contract/artifact-store/artifact-store.ts";
import { coreContract } from "../contract/core/core.ts";
import { pointStoreContract } from "../contract/point-store/point-store.ts";
import { dose } from "../../tools/dose.ts";
import { openOnDisk } from "./testing/under-test.ts";

// Apart from disk.test.ts so that the two take turns on two processes.
artifactStoreContract("sqlite on disk", () => openOnDisk());

const cases = { series: dose(20, 100), groups: dose(5, 40) };
pointStoreContract("sqlite on disk", () => openOnDisk(), { cases, large: false });

coreContract("sqlite on disk", () => openOnDisk(), { restores: true });
