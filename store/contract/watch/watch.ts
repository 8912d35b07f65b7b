/** Watching, on a real store: which events, for which callers, and after which disconnects. */
import { describe } from "vitest";
import type { OpenStores } from "../stores.ts";
import { watchBehindContract } from "./behind.ts";
import { watchCrowdContract } from "./crowd.ts";
import { watchEventsContract } from "./events.ts";
import { watchMovesContract } from "./moves.ts";
import { watchNamespaceMovesContract } from "./namespace-moves.ts";
import { watchProvenanceContract } from "./provenance.ts";
import { watchReadsContract } from "./reads.ts";
import { watchResumeContract } from "./resume.ts";
import { watchRightsContract } from "./rights.ts";
import { watchWakeUpsContract } from "./wake-ups.ts";
import { watchTwoCoresContract } from "./two-cores.ts";

export function watchContract(
  name: string,
  open: OpenStores,
  traits: { restores: boolean; schedules: number; crowds: boolean },
): void {
  describe(`watching on ${name}`, () => {
    describe("events", () => watchEventsContract(open));
    describe("slow watchers", () => watchBehindContract(open, traits.restores));
    describe("rights", () => watchRightsContract(open));
    describe("provenance", () => watchProvenanceContract(open));
    describe("moves of runs", () => watchMovesContract(open));
    describe("moves of namespaces", () => watchNamespaceMovesContract(open));
    describe("resuming", () => watchResumeContract(open, traits.schedules));
    describe("wake-ups", () => watchWakeUpsContract(open, traits.schedules));
    describe("positions of reads", () => watchReadsContract(open, traits.schedules));
    describe("two cores on one store", () => watchTwoCoresContract(open, traits.restores));
    if (traits.crowds) describe("crowds", () => watchCrowdContract(open));
  });
}
