/**
 * The contract of every ArtifactStore, in any engine; see core/ports/artifact-store.ts. The
 * store is opened with the RunStore whose runs the artifacts belong to.
 */
import { describe } from "vitest";
import { artifactBlobsContract } from "./blobs.ts";
import { blobLedgerContract } from "./ledger.ts";
import { artifactListContract } from "./list.ts";
import { artifactRowsContract } from "./rows.ts";
import { artifactVersionsContract } from "./versions.ts";
import type { OpenStores } from "../stores.ts";

/** `open` gives an empty store; each test opens one and discards it. */
export function artifactStoreContract(name: string, open: OpenStores): void {
  describe(`artifact store on ${name}`, () => {
    describe("rows", () => artifactRowsContract(open));
    describe("lists", () => artifactListContract(open));
    describe("versions", () => artifactVersionsContract(open));
    describe("blobs", () => artifactBlobsContract(open));
    describe("pins and marks", () => blobLedgerContract(open));
  });
}
