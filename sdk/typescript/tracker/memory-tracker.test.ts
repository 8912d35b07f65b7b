import { describe, expect, it } from "vitest";
import { trackerConformance } from "./conformance.ts";
import { MemoryTracker } from "./memory-tracker.ts";

describe("the tracker in memory", () => {
  trackerConformance({
    test: (title, body) => it(`X3 ${title}`, body),
    makeTracker: () => new MemoryTracker(),
  });

  it("X3 finds runs by their metadata", async () => {
    const tracker = new MemoryTracker();
    await tracker.addMetadata("a", { team: "asr", lr: 0.1 });
    await tracker.addMetadata("b", { team: "mt" });
    expect(await tracker.runIds({ team: "asr", lr: "0.1" })).toEqual(["a"]);
    expect(await tracker.runIds({ toString: "x" })).toEqual([]);
  });
});

describe("the conformance suite", () => {
  it("X3 finds a tracker that forgets, doubles or mixes up", async () => {
    class Forgetful extends MemoryTracker {
      override addSource(): Promise<void> {
        return Promise.reject(new Error("not implemented"));
      }
    }
    class Overwriting extends MemoryTracker {
      override async addMetadata(
        ...[runId, metadata]: Parameters<MemoryTracker["addMetadata"]>
      ): Promise<void> {
        await super.addMetadata(
          runId,
          Object.fromEntries(
            Object.keys(Object.fromEntries(await this.metadata(runId))).map((key) => [key, null]),
          ),
        );
        await super.addMetadata(runId, metadata);
      }
    }
    class Listing extends MemoryTracker {
      override runIds(): Promise<readonly string[]> {
        return super.runIds();
      }
    }
    for (const [Tracker, atLeast] of [
      [Forgetful, 8],
      [Overwriting, 2],
      [Listing, 3],
    ] as const) {
      const bodies: (() => Promise<void>)[] = [];
      trackerConformance({ test: (_title, body) => bodies.push(body), makeTracker: () => new Tracker() });
      const ended = await Promise.allSettled(bodies.map((body) => body()));
      expect(ended.filter(({ status }) => status === "rejected").length).toBeGreaterThanOrEqual(atLeast);
    }
  });

  it("X3 leaves out the features that a tracker declares as missing, and lists those cases", () => {
    const titles: string[] = [];
    const leftOut = trackerConformance({
      test: (title) => titles.push(title),
      makeTracker: () => new MemoryTracker(),
      lacks: ["any run id"],
    });
    expect(leftOut).toEqual(["a run id may be any text"]);
    expect(titles).not.toContain("a run id may be any text");
    expect(titles.length).toBeGreaterThan(25);
  });
});
