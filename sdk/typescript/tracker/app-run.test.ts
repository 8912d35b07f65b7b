import { afterEach, describe, expect, it, vi } from "vitest";
import { AppRunTrackableSource, Lineage } from "./api.ts";
import { AppRun, appRunFromEnv, makeFromEnv } from "./app-run.ts";
import { MemoryTracker } from "./memory-tracker.ts";
import { registerTracker } from "./registry.ts";
import {
  buildTrackers,
  trackerConfigEnvVarName,
  trackerConfigsFromEnviron,
  trackersFromEnviron,
} from "./trackers-from-environ.ts";

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0)) each();
  vi.unstubAllEnvs();
  AppRun.clearRunFromEnv();
});

/** Registers a tracker that remembers its config. */
function register(name: string): { configs: (string | null)[]; tracker: MemoryTracker } {
  const configs: (string | null)[] = [];
  const tracker = new MemoryTracker();
  undo.push(
    registerTracker(name, (config) => {
      configs.push(config);
      return tracker;
    }),
  );
  return { configs, tracker };
}

/** For what must not report anything. */
function silent(message: string): never {
  throw new Error(message);
}

function problemList(): { problems: string[]; report: (message: string) => void } {
  const problems: string[] = [];
  return { problems, report: (message) => void problems.push(message) };
}

describe("runFromEnv", () => {
  it("X10 is the same run for the whole process, with its parent linked once", async () => {
    const { tracker } = register("tracker1");
    vi.stubEnv("TORCHX_JOB_ID", "scheduler://session/job");
    vi.stubEnv("TORCHX_TRACKERS", "tracker1");
    vi.stubEnv("TORCHX_PARENT_RUN_ID", "scheduler://session/parent");
    const run = await AppRun.runFromEnv();
    expect(await appRunFromEnv()).toBe(run);
    expect(run.id).toBe("scheduler://session/job");
    expect(run.jobId()).toBe(run.id);
    expect(run.backends).toEqual([tracker]);
    const [source, ...others] = await run.sources();
    expect(others).toEqual([]);
    expect(source).toBeInstanceOf(AppRunTrackableSource);
    expect(source!.parent.id).toBe("scheduler://session/parent");
    expect(source!.parent.backends).toEqual(run.backends);
    AppRun.clearRunFromEnv();
    expect(await AppRun.runFromEnv()).not.toBe(run);
  });

  it("X10 outside a job it is <UNDEFINED>, has no trackers, and writing does nothing", async () => {
    for (const name of ["TORCHX_JOB_ID", "TORCHX_TRACKERS", "TORCHX_PARENT_RUN_ID"])
      vi.stubEnv(name, undefined);
    const run = await appRunFromEnv();
    expect(run.id).toBe("<UNDEFINED>");
    expect(run.backends).toEqual([]);
    await run.addMetadata({ a: 1 });
    await run.addArtifact("name", "path");
    await run.addSource("source");
    expect(await run.sources()).toEqual([]);
    expect(await run.children()).toEqual([]);
    expect(await run.lineage()).toEqual(new Lineage());
    expect(run.failedWrites).toBe(0);
  });

  it("X10 every tracker gets the parent, under <UNDEFINED> too", async () => {
    const [one, two] = [register("one"), register("two")];
    const env = { TORCHX_TRACKERS: "one,two", TORCHX_PARENT_RUN_ID: "parent" };
    await makeFromEnv({ env, report: silent });
    for (const { tracker } of [one, two]) {
      expect(await tracker.sources("<UNDEFINED>")).toEqual([{ sourceRunId: "parent", artifactName: null }]);
    }
  });
});

describe("AppRun", () => {
  it("X11 writes to all trackers and reads from the first", async () => {
    const [first, second] = [new MemoryTracker(), new MemoryTracker()];
    const run = new AppRun("job", [first, second], silent);
    await run.addMetadata({ lr: 0.01, bs: 25 });
    await run.addMetadata({ lr: 0.02 });
    await run.addArtifact("model", "/tmp/model", { format: "pt" });
    await run.addSource("parent", "weights");
    for (const tracker of [first, second]) {
      expect(await tracker.metadata("job")).toEqual(
        new Map([
          ["lr", 0.02],
          ["bs", 25],
        ]),
      );
      expect((await tracker.artifacts("job")).get("model")?.path).toBe("/tmp/model");
      expect(await tracker.sources("job")).toHaveLength(1);
    }
    await first.addSource("child", "job");
    await second.addSource("other child", "job");
    const children = await run.children();
    expect(children.map(({ id }) => id)).toEqual(["child"]);
    expect(children[0]!.backends).toEqual(run.backends);
    expect((await run.lineage()).descendants.map(({ runId }) => runId)).toEqual(["child"]);
  });

  it("X11 a tracker that fails does not affect the others and is reported once", async () => {
    class Broken extends MemoryTracker {
      override addMetadata(): Promise<void> {
        return Promise.reject(new Error("disk on fire"));
      }
      override addSource(): Promise<void> {
        // Also one that throws before it returns a promise.
        throw new Error("no sources");
      }
    }
    const { problems, report } = problemList();
    const working = new MemoryTracker();
    const run = new AppRun("job", [new Broken(), working], report);
    for (let i = 0; i < 5; i++) await run.addMetadata({ i });
    await run.addSource("parent");
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('cannot add metadata of run "job" in Broken: disk on fire');
    expect(run.failedWrites).toBe(6);
    expect(await working.metadata("job")).toEqual(new Map([["i", 4]]));
    expect(await working.sources("job")).toHaveLength(1);
  });
});

describe("trackers from the environment", () => {
  it("X12 the variable of a config has the name of the tracker in capitals", () => {
    expect(trackerConfigEnvVarName("tracker1")).toBe("TORCHX_TRACKER_TRACKER1_CONFIG");
    expect(trackerConfigEnvVarName("my.module:factory")).toBe("TORCHX_TRACKER_MY.MODULE:FACTORY_CONFIG");
  });

  it("X12 names are split at commas and not trimmed", () => {
    expect(trackerConfigsFromEnviron({})).toEqual(new Map());
    expect(
      trackerConfigsFromEnviron({
        TORCHX_TRACKERS: "a, b,a,",
        TORCHX_TRACKER_A_CONFIG: "c",
        "TORCHX_TRACKER_ B_CONFIG": "",
      }),
    ).toEqual(
      new Map([
        ["a", "c"],
        [" b", ""],
        ["", null],
      ]),
    );
  });

  it("X12 the config reaches the factory, null when there is none", async () => {
    const { configs, tracker } = register("tracker1");
    const env = { TORCHX_TRACKERS: "tracker1" };
    expect(await trackersFromEnviron({ env, report: silent })).toEqual([tracker]);
    await trackersFromEnviron({
      env: { ...env, TORCHX_TRACKER_TRACKER1_CONFIG: "myconfig.txt" },
      report: silent,
    });
    await buildTrackers(new Map([["tracker1", "directly"]]), { report: silent });
    expect(configs).toEqual([null, "myconfig.txt", "directly"]);
    expect(await trackersFromEnviron({ env: {}, report: silent })).toEqual([]);
    expect(await buildTrackers(new Map(), { report: silent })).toEqual([]);
  });

  it("X12 unavailable trackers are left out, with a reason each", async () => {
    const { tracker } = register("good");
    undo.push(
      registerTracker("throwing", () => {
        throw new Error("bad config");
      }),
      registerTracker("rejecting", () => Promise.reject(new Error("no server"))),
      registerTracker("empty", () => ({}) as MemoryTracker),
      registerTracker("nothing", () => undefined as unknown as MemoryTracker),
      registerTracker("class", MemoryTracker as unknown as () => MemoryTracker),
    );
    const { problems, report } = problemList();
    const names = [
      "throwing",
      "good",
      "rejecting",
      "empty",
      "nothing",
      "class",
      "not-installed-anywhere",
      "",
    ];
    const trackers = await buildTrackers(new Map(names.map((name) => [name, null])), { report });
    expect(trackers).toEqual([tracker]);
    expect(problems).toEqual([
      'cannot use tracker "throwing": bad config; it is left out',
      'cannot use tracker "rejecting": no server; it is left out',
      expect.stringContaining("has no method addArtifact, artifacts"),
      expect.stringContaining("has no method addArtifact"),
      expect.stringContaining("its factory is a class"),
      expect.stringContaining('module "not-installed-anywhere" cannot be loaded'),
      expect.stringContaining("unknown tracker"),
    ]);
  });

  it("X12 only functions are registered", () => {
    expect(() => registerTracker("x", {} as () => MemoryTracker)).toThrow('cannot register tracker "x"');
  });
});
