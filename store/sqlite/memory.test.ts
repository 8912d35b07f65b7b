import { describe } from "vitest";
import { artifactStoreContract } from "../contract/artifact-store/artifact-store.ts";
import { coreBoundsContract } from "../contract/core/bounds.ts";
import { pointStoreContract } from "../contract/point-store/point-store.ts";
import { runStoreContract } from "../contract/run-store/run-store.ts";
import { dose } from "../../tools/dose.ts";
import { openInMemory } from "./testing/under-test.ts";

// e2e/schedules.test.ts tries very many.
runStoreContract("sqlite in memory", openInMemory, { restores: false, schedules: 100 });

artifactStoreContract("sqlite in memory", openInMemory);

const cases = { series: dose(150, 1_000), groups: dose(60, 400) };
pointStoreContract("sqlite in memory", openInMemory, { cases, large: true });

// What fills pages of megabytes would only take longer on disk: the code is the same.
describe("core on sqlite in memory", () => {
  describe("bounds", () => coreBoundsContract(openInMemory));
});
