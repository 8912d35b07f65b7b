/**
 * The contract of every RunStore, in any engine; see core/ports/run-store.ts. The store
 * is opened with the PointStore that reads its points.
 */
import { describe } from "vitest";
import { backupContract } from "./backup.ts";
import { runBoundsContract } from "./bounds.ts";
import { digestContract } from "./digest.ts";
import { durableContract } from "./durable.ts";
import { feedContract } from "./feed.ts";
import { ledgerContract } from "./ledger.ts";
import { limitsContract } from "./limits.ts";
import { modelFeedContract } from "./model-feed.ts";
import { movesContract } from "./moves.ts";
import { namespaceMovesContract } from "./namespace-moves.ts";
import { namespaceTrashContract } from "./namespace-trash.ts";
import { namespacesContract } from "./namespaces.ts";
import { provenanceContract } from "./provenance.ts";
import { repeatsContract } from "./repeats.ts";
import { runsContract } from "./runs.ts";
import { schedulesContract } from "./schedules.ts";
import { trashContract } from "./trash.ts";
import { verifyContract } from "./verify.ts";
import { whoContract } from "./who.ts";
import type { OpenStores } from "../stores.ts";

export interface RunStoreTraits {
  /** False for a store that cannot restore a copy, such as one in memory. */
  restores: boolean;
  /** How many random schedules of deliveries to try. */
  schedules: number;
}

/** `open` gives an empty store; each test opens one and discards it. */
export function runStoreContract(name: string, open: OpenStores, traits: RunStoreTraits): void {
  describe(`run store on ${name}`, () => {
    describe("namespaces", () => namespacesContract(open));
    describe("runs", () => runsContract(open));
    describe("provenance", () => provenanceContract(open));
    describe("who", () => whoContract(open));
    describe("moves", () => movesContract(open));
    describe("moves of namespaces", () => namespaceMovesContract(open));
    describe("the trash of namespaces", () => namespaceTrashContract(open));
    describe("trash and heartbeats", () => trashContract(open));
    describe("ledger", () => ledgerContract(open));
    describe("digests", () => digestContract(open));
    describe("repeated bodies", () => repeatsContract(open));
    describe("verify", () => verifyContract(open));
    describe("schedules", () => schedulesContract(open, traits.schedules));
    describe("limits", () => limitsContract(open));
    describe("bounds", () => runBoundsContract(open));
    describe("feed", () => feedContract(open));
    describe("feed of models", () => modelFeedContract(open));
    describe("durability", () => durableContract(open));
    describe("backup", () => backupContract(open, traits.restores));
  });
}
