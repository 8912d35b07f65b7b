/**
 * The contract of every PointStore; see core/ports/point-store.ts. It reads what a RunStore acknowledged,
 * so a suite opens both.
 */
import { describe } from "vitest";
import { boundsContract } from "./bounds.ts";
import { deleteContract } from "./delete.ts";
import { groupsModelContract } from "./groups-model.ts";
import { hostsContract } from "./hosts.ts";
import { groupsContract } from "./groups.ts";
import { listContract } from "./list.ts";
import { modelContract } from "./model.ts";
import { orderContract } from "./order.ts";
import { selectContract } from "./select.ts";
import { picturesContract } from "./pictures.ts";
import { valuesContract } from "./values.ts";
import type { OpenStores } from "../stores.ts";

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
    describe("selection", () => selectContract(open, traits.cases.groups));
    describe("deletion", () => deleteContract(open));
    describe("any series", () => modelContract(open, traits.cases.series));
    describe("hosts", () => hostsContract(open));
    describe("any series of hosts", () => modelContract(open, traits.cases.series, "host"));
    describe("groups", () => groupsContract(open));
    describe("any groups", () => groupsModelContract(open, traits.cases.groups));
  });
}
