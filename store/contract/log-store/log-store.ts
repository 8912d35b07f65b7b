/**
 * The contract of every LogStore; see core/ports/log-store.ts. It reads the lines that a RunStore
 * acknowledged, so a suite opens both.
 */
import { describe } from "vitest";
import { coreLogsContract } from "../core/logs.ts";
import { logModelContract } from "./model.ts";
import { logReadContract } from "./read.ts";
import type { OpenStores } from "../stores.ts";

export interface LogStoreTraits {
  /** How many random logs to try. */
  cases: number;
  /** Whether to try sizes that take a while. */
  large: boolean;
}

/** `open` gives an empty store; each test opens one and discards it. */
export function logStoreContract(name: string, open: OpenStores, traits: LogStoreTraits): void {
  describe(`log store on ${name}`, () => {
    describe("reading", () => logReadContract(open, traits.large));
    describe("any log", () => logModelContract(open, traits.cases));
    describe("core", () => coreLogsContract(open));
  });
}
