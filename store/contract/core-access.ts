/** Access on a real store: who may what, tokens, passwords, the audit. */
import { describe } from "vitest";
import { coreAccessAuditContract } from "./core-access-audit.ts";
import { coreAccessGrantsContract } from "./core-access-grants.ts";
import { coreAccessPrincipalsContract } from "./core-access-principals.ts";
import { coreAccessTokensContract } from "./core-access-tokens.ts";
import type { OpenStores } from "./stores.ts";

export function coreAccessContract(name: string, open: OpenStores, traits: { restores: boolean }): void {
  describe(`access on ${name}`, () => {
    describe("grants", () => coreAccessGrantsContract(open));
    describe("tokens", () => coreAccessTokensContract(open));
    describe("principals and passwords", () => coreAccessPrincipalsContract(open));
    describe("audit", () => coreAccessAuditContract(open, traits.restores));
  });
}
