/**
 * What every PointStore must do; see core/ports/point-store.ts. It reads what a RunStore acknowledged,
 * so a suite opens both.
 */
import { describe } from "vitest";
import { boundsContract } from "./point-store-bounds.ts";
import { groupsModelContract } from "./point-store-groups-model.ts";
import { groupsContract } from "./point-store-groups.ts";
import { listContract } from "./point-store-list.ts";
import { modelContract } from "./point-store-model.ts";
import { orderContract } from "./point-store-order.ts";
import { picturesContract } from "./point-store-pictures.ts";
import { valuesContract } from "./point-store-values.ts";
import type { OpenStores } from "./stores.ts";

export interface PointStoreTraits {
  /** How many random series, and how many random groups, to try. */
  cases: { series: number; groups: number };
  /** Whether to try sizes that take a while. */
  large: boolean;
}

/** `open` gives an empty store; each test opens one and discards it. */
export function pointStoreContract(name: string, open: OpenStores, traits: PointStoreTraits): void {
  describe(`point store on ${name}`, () => {
    describe("values", () => valuesContract(open, traits.large));
    describe("order", () => orderContract(open));
    describe("pictures", () => picturesContract(open));
    describe("bounds", () => boundsContract(open));
    describe("lists", () => listContract(open));
    describe("any series", () => modelContract(open, traits.cases.series));
    describe("groups", () => groupsContract(open));
    describe("any groups", () => groupsModelContract(open, traits.cases.groups));
  });
}
