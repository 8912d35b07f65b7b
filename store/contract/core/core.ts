/** Core's services on a real store: rules that need both are tested here, on every engine. */
import { describe } from "vitest";
import { coreCaptureContract } from "./capture.ts";
import { coreExploreContract } from "./explore.ts";
import { coreGroupsContract } from "./groups.ts";
import { coreHostsContract } from "./hosts.ts";
import { coreIngestContract } from "./ingest.ts";
import { coreModelsContract } from "./models.ts";
import { coreNamespacesContract } from "./namespaces.ts";
import { coreRunsContract } from "./runs.ts";
import { coreSearchByTreeContract } from "./search-by-tree.ts";
import { coreSeriesContract } from "./series.ts";
import { coreSightContract } from "./sight.ts";
import { coreSystemContract } from "./system.ts";
import { coreWriteManyContract } from "./write-many.ts";
import type { OpenStores } from "../stores.ts";

export function coreContract(name: string, open: OpenStores, traits: { restores: boolean }): void {
  describe(`core on ${name}`, () => {
    describe("runs and namespaces", () => coreRunsContract(open));
    describe("namespaces", () => coreNamespacesContract(open));
    describe("visibility", () => coreSightContract(open));
    describe("ingest and metrics", () => coreIngestContract(open));
    describe("many envelopes at once", () => coreWriteManyContract(open));
    describe("selection of series", () => coreSeriesContract(open));
    describe("hosts", () => coreHostsContract(open));
    describe("capture policies", () => coreCaptureContract(open));
    describe("groups", () => coreGroupsContract(open));
    describe("models", () => coreModelsContract(open));
    describe("many runs at once", () => coreExploreContract(open));
    describe("queries as trees", () => coreSearchByTreeContract(open));
    describe("system", () => coreSystemContract(open, traits.restores));
  });
}
