/**
 * Tests for authors of trackers: the requirements of TorchX's own tests, and problems that users have had. They need no
 * test framework, only something that runs a function under a title:
 *
 *     import { test } from "node:test";
 *     trackerConformance({ test, makeTracker: () => new MyTracker() });
 *
 * docs/guides/trackers.md walks through it.
 */
import { randomUUID } from "node:crypto";
import type { TrackerBase } from "./api.ts";
import { artifactCases } from "./conformance/artifact-cases.ts";
import { jobCases } from "./conformance/job-cases.ts";
import { metadataCases } from "./conformance/metadata-cases.ts";
import { sourceCases } from "./conformance/source-cases.ts";

/** Features that a tracker may declare as missing; cases that need them are left out. */
export type TrackerAbility =
  /** Metadata keep their types, and are not texts. */
  | "typed metadata"
  /** The path of an artifact comes back as it was given. */
  | "same path"
  /** Any text up to 1,000 characters is a run id. */
  | "any run id"
  /** A link without an artifact is kept beside one with, to the same source. */
  | "link beside named";

export interface ConformanceOptions {
  /** `it` of vitest, `test` of node:test and their like. */
  test(title: string, body: () => Promise<void>): void;
  /** Called once per case. Trackers may share what they store: every case has its own runs. */
  makeTracker(): TrackerBase | Promise<TrackerBase>;
  lacks?: readonly TrackerAbility[];
  /** Where an artifact of that name is, for trackers that look there. */
  pathOf?(name: string): string | Promise<string>;
}

export interface CaseContext {
  tracker: TrackerBase;
  /** An id that no other case uses; the same for the same name. */
  run(name: string): string;
  pathOf(name: string): Promise<string>;
  can(ability: TrackerAbility): boolean;
}

export interface ConformanceCase {
  title: string;
  needs?: TrackerAbility;
  run(context: CaseContext): Promise<void>;
}

/** Hands all cases to `test`. Returns the titles of those left out. */
export function trackerConformance(options: ConformanceOptions): string[] {
  const lacks = new Set(options.lacks);
  const leftOut: string[] = [];
  for (const each of [...metadataCases, ...artifactCases, ...sourceCases, ...jobCases]) {
    if (each.needs !== undefined && lacks.has(each.needs)) {
      leftOut.push(each.title);
      continue;
    }
    options.test(each.title, async () => {
      const unique = randomUUID().slice(0, 8);
      await each.run({
        tracker: await options.makeTracker(),
        run: (name) => `conformance://${unique}/${name}`,
        pathOf: async (name) => (await options.pathOf?.(name)) ?? `s3://bucket/${name}`,
        can: (ability) => !lacks.has(ability),
      });
    });
  }
  return leftOut;
}
