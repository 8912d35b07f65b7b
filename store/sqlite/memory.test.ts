import { describe } from "vitest";
import { artifactStoreContract } from "#store/contract/artifact-store.ts";
import { coreBoundsContract } from "#store/contract/core-bounds.ts";
import { pointStoreContract } from "#store/contract/point-store.ts";
import { runStoreContract } from "#store/contract/run-store.ts";
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
