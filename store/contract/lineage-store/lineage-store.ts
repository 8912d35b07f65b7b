/** The contract of every LineageStore, and core's lineage on it; see core/ports/lineage-store.ts. */
import { describe } from "vitest";
import { lineageCoreContract } from "./core.ts";
import { lineageHiddenContract } from "./hidden.ts";
import { lineageLinksContract } from "./links.ts";
import { lineageModelContract } from "./model.ts";
import { lineageRolesContract } from "./roles.ts";
import type { OpenStores } from "../stores.ts";

export interface LineageTraits {
  /** How many hundreds of random graphs. */
  batches: number;
  /** Whether limits are reached, which takes ten thousand links. */
  reachesLimits: boolean;
}

/** `open` gives an empty store. */
export function lineageStoreContract(name: string, open: OpenStores, traits: LineageTraits): void {
  describe(`lineage store on ${name}`, () => {
    describe("links", () => lineageLinksContract(open, traits.reachesLimits));
    describe("core", () => lineageCoreContract(open, traits.reachesLimits));
    describe("hidden runs", () => lineageHiddenContract(open));
    describe("roles", () => lineageRolesContract(open));
    describe("any graph", () => lineageModelContract(open, traits.batches));
  });
}
