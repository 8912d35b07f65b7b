/**
 * What every RunStore must do, whatever it keeps its data in; see core/ports/run-store.ts. The store
 * comes with the PointStore that reads its points.
 */
import { describe } from "vitest";
import { backupContract } from "./run-store-backup.ts";
import { runBoundsContract } from "./run-store-bounds.ts";
import { digestContract } from "./run-store-digest.ts";
import { durableContract } from "./run-store-durable.ts";
import { feedContract } from "./run-store-feed.ts";
import { ledgerContract } from "./run-store-ledger.ts";
import { limitsContract } from "./run-store-limits.ts";
import { namespacesContract } from "./run-store-namespaces.ts";
import { runsContract } from "./run-store-runs.ts";
import { schedulesContract } from "./run-store-schedules.ts";
import { trashContract } from "./run-store-trash.ts";
import { verifyContract } from "./run-store-verify.ts";
import type { OpenStores } from "./stores.ts";

export interface RunStoreTraits {
  /** False for a store that cannot put a copy in its place, such as one in memory. */
  restores: boolean;
  /** How many random schedules of deliveries to try. */
  schedules: number;
}

/** `open` gives an empty store; each test opens one and discards it. */
export function runStoreContract(name: string, open: OpenStores, traits: RunStoreTraits): void {
  describe(`run store on ${name}`, () => {
    describe("namespaces", () => namespacesContract(open));
    describe("runs", () => runsContract(open));
    describe("trash and heartbeats", () => trashContract(open));
    describe("ledger", () => ledgerContract(open));
    describe("digests", () => digestContract(open));
    describe("verify", () => verifyContract(open));
    describe("schedules", () => schedulesContract(open, traits.schedules));
    describe("limits", () => limitsContract(open));
    describe("bounds", () => runBoundsContract(open));
    describe("feed", () => feedContract(open));
    describe("durability", () => durableContract(open));
    describe("backup", () => backupContract(open, traits.restores));
  });
}
