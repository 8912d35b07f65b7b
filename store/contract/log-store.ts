/**
 * What every LogStore must do; see core/ports/log-store.ts. It reads the lines that a RunStore
 * acknowledged, so a suite opens both.
 */
import { describe } from "vitest";
import { coreLogsContract } from "./core-logs.ts";
import { logModelContract } from "./log-store-model.ts";
import { logReadContract } from "./log-store-read.ts";
import type { OpenStores } from "./stores.ts";

/** `open` gives an empty store; each test opens one and discards it. `cases` is how many random logs to try. */
export function logStoreContract(name: string, open: OpenStores, traits: { cases: number }): void {
  describe(`log store on ${name}`, () => {
    describe("reading", () => logReadContract(open));
    describe("any log", () => logModelContract(open, traits.cases));
    describe("core", () => coreLogsContract(open));
  });
}
