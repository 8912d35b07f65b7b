/** Access on a real store: rights, tokens, passwords, the audit. */
import { describe } from "vitest";
import { coreAccessAuditContract } from "./audit.ts";
import { coreAccessBoundsContract } from "./bounds.ts";
import { coreAccessCaptureContract } from "./capture.ts";
import { coreAccessGrantsContract } from "./grants.ts";
import { coreAccessFamiliesContract } from "./families.ts";
import { coreAccessFirstTokenContract } from "./first-token.ts";
import { coreAccessLoginsContract } from "./logins.ts";
import { coreAccessMovesTwoCoresContract } from "./moves-two-cores.ts";
import { coreAccessMovesContract } from "./moves.ts";
import { coreAccessNamespaceMovesTwoCoresContract } from "./namespace-moves-two-cores.ts";
import { coreAccessNamespaceMovesContract } from "./namespace-moves.ts";
import { coreAccessNamespaceTrashContract } from "./namespace-trash.ts";
import { coreAccessPrincipalsContract } from "./principals.ts";
import { coreAccessTokensContract } from "./tokens.ts";
import { coreAccessTwoCoresContract } from "./two-cores.ts";
import type { OpenStores } from "../stores.ts";

export function coreAccessContract(name: string, open: OpenStores, traits: { restores: boolean }): void {
  describe(`access on ${name}`, () => {
    describe("grants", () => coreAccessGrantsContract(open));
    describe("tokens", () => coreAccessTokensContract(open));
    describe("bounds", () => coreAccessBoundsContract(open));
    describe("families of tokens", () => coreAccessFamiliesContract(open, traits.restores));
    describe("the first token", () => coreAccessFirstTokenContract(open));
    describe("moves of runs", () => coreAccessMovesContract(open));
    describe("moves of runs at two cores", () => coreAccessMovesTwoCoresContract(open));
    describe("moves of namespaces", () => coreAccessNamespaceMovesContract(open));
    describe("moves of namespaces at two cores", () => coreAccessNamespaceMovesTwoCoresContract(open));
    describe("the trash of namespaces", () => coreAccessNamespaceTrashContract(open));
    describe("principals", () => coreAccessPrincipalsContract(open));
    describe("logins", () => coreAccessLoginsContract(open));
    describe("capture policies", () => coreAccessCaptureContract(open));
    describe("two cores on one store", () => coreAccessTwoCoresContract(open, traits.restores));
    describe("audit", () => coreAccessAuditContract(open, traits.restores));
  });
}
