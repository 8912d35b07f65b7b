/**
 * The contract of every RunSearch, in any engine. The meaning of a query is defined by lang/query;
 * the suite compares an engine with its scripts and its reference evaluator.
 */
import { describe } from "vitest";
import type { OpenSearch } from "../run-feeder.ts";
import { exploreContract } from "./explore.ts";
import { feedContract } from "./feed.ts";
import { maskContract } from "./mask.ts";
import { metricsContract } from "./metrics.ts";
import { modelsContract } from "./models.ts";
import { pagingContract } from "./paging.ts";
import { queryContract } from "./query.ts";
import { scopeContract } from "./scope.ts";

export interface RunSearchTraits {
  /** How many random cases each property tries. */
  cases: number;
  /** False for an engine that queries the database itself and so ignores positions. */
  positions: boolean;
}

/** `open` returns a RunSearch that follows the given changes; each test opens one and closes it. */
export function runSearchContract(
  name: string,
  open: OpenSearch,
  { cases, positions }: RunSearchTraits,
): void {
  describe(`run search on ${name}`, () => {
    describe("queries", () => queryContract(open, cases));
    describe("scope", () => scopeContract(open));
    describe("masks", () => maskContract(open, cases));
    describe("changes", () => feedContract(open, cases, positions));
    describe("metrics", () => metricsContract(open));
    describe("models", () => modelsContract(open, cases));
    describe("pages", () => pagingContract(open, cases));
    describe("many runs at once", () => exploreContract(open, cases));
  });
}
