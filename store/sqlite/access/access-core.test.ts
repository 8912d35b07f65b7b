import { coreAccessContract } from "../../contract/core-access/core-access.ts";
import { openOnDisk } from "../testing/under-test.ts";

coreAccessContract("sqlite on disk", () => openOnDisk(), { restores: true });
