/** The contract of every AccessStore, in any engine; see core/ports/access-store.ts. */
import { describe } from "vitest";
import { accessAuditContract } from "./audit.ts";
import { accessContentContract } from "./content.ts";
import { accessGoneContract } from "./gone.ts";
import type { OpenStores } from "../stores.ts";

/** `restores` as in RunStoreTraits. */
export function accessStoreContract(name: string, open: OpenStores, traits: { restores: boolean }): void {
  describe(`access store on ${name}`, () => {
    describe("content", () => accessContentContract(open));
    describe("audit", () => accessAuditContract(open));
    describe("deletion and restore", () => accessGoneContract(open, traits.restores));
  });
}
