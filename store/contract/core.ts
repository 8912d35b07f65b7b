/** Core's services on a real store: what a rule needs both for is proven here, on every engine. */
import { describe } from "vitest";
import { coreCaptureContract } from "./core-capture.ts";
import { coreExploreContract } from "./core-explore.ts";
import { coreGroupsContract } from "./core-groups.ts";
import { coreIngestContract } from "./core-ingest.ts";
import { coreRunsContract } from "./core-runs.ts";
import { coreSightContract } from "./core-sight.ts";
import { coreSystemContract } from "./core-system.ts";
import type { OpenStores } from "./stores.ts";

export function coreContract(name: string, open: OpenStores, traits: { restores: boolean }): void {
  describe(`core on ${name}`, () => {
    describe("runs and namespaces", () => coreRunsContract(open));
    describe("what others may not see", () => coreSightContract(open));
    describe("ingest and metrics", () => coreIngestContract(open));
    describe("what must not be captured", () => coreCaptureContract(open));
    describe("groups", () => coreGroupsContract(open));
    describe("many runs at once", () => coreExploreContract(open));
    describe("system", () => coreSystemContract(open, traits.restores));
  });
}
