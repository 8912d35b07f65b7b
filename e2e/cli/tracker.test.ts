import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CairnTracker } from "#sdk/tracker/cairn/cairn-tracker.ts";
import { useTerminal } from "./testing/cairn.ts";

const lines = (...each: string[]) => `${each.join("\n")}\n`;

describe("cairn tracker", () => {
  const terminal = useTerminal();
  const { cairn } = terminal;
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "cairn-tracker-"));
    const tracker = new CairnTracker(terminal.client, { namespace: "langtech" });
    await tracker.addMetadata("local://torchx/base", { lr: 0.01, bs: 25 });
    await tracker.addMetadata("local://torchx/tuned", {
      optim: "adam",
      layers: [64, 64],
      colour: "\u001b[31mred",
    });
    await tracker.addArtifact("local://torchx/tuned", "model", "s3://models/tuned.pt", {
      epoch: 3,
      format: "pt",
    });
    await tracker.addArtifact("local://torchx/tuned", "log", "/tmp/log.txt");
    await tracker.addSource("local://torchx/tuned", "local://torchx/base", "weights");
    await tracker.addSource("local://torchx/base", "s3://corpus");
    await tracker.addSource("local://torchx/small", "local://torchx/tuned");
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("X17 lists jobs, and those of a parent", async () => {
    expect((await cairn(["tracker", "list", "jobs"])).stdout).toBe(
      lines(
        "JOB ID",
        "--------------------",
        "local://torchx/base",
        "local://torchx/tuned",
        "local://torchx/small",
      ),
    );
    const children = await cairn(["tracker", "list", "jobs", "--parent-run-id", "local://torchx/base"]);
    expect(children.stdout).toBe(lines("JOB ID", "--------------------", "local://torchx/tuned"));
    const json = await cairn(["tracker", "list", "jobs", "--parent-run-id", "local://torchx/base", "--json"]);
    expect(json.json()).toEqual(["local://torchx/tuned"]);
  });

  it("X17 lists metadata: numbers with their points in line, texts as Python prints them", async () => {
    expect((await cairn(["tracker", "list", "metadata", "local://torchx/base"])).stdout).toBe(
      lines("ID      VALUE", "----  -------", "bs      25", "lr       0.01"),
    );
    expect((await cairn(["tracker", "list", "metadata", "local://torchx/tuned"])).stdout).toBe(
      lines(
        "ID      VALUE",
        "------  -------------",
        "colour  \\u001b[31mred",
        "layers  [64, 64]",
        "optim   adam",
      ),
    );
    expect((await cairn(["tracker", "list", "metadata", "local://torchx/base", "--json"])).json()).toEqual({
      lr: 0.01,
      bs: 25,
    });
  });

  it("X17 lists artifacts, or one of them", async () => {
    expect((await cairn(["tracker", "list", "artifacts", "local://torchx/tuned"])).stdout).toBe(
      lines(
        "ARTIFACT    PATH                  METADATA",
        "----------  --------------------  ----------------------------",
        "log         /tmp/log.txt",
        "model       s3://models/tuned.pt  {'epoch': 3, 'format': 'pt'}",
      ),
    );
    const one = ["tracker", "list", "artifacts", "--artifact", "log", "local://torchx/tuned"];
    expect((await cairn(one)).stdout).not.toContain("model");
    expect((await cairn([...one, "--json"])).json()).toEqual([
      { name: "log", path: "/tmp/log.txt", metadata: null },
    ]);
  });

  it("X17 lists the lineage, one side of it, or what goes through an artifact", async () => {
    const list = ["tracker", "list", "lineage"];
    expect((await cairn([...list, "local://torchx/tuned"])).stdout).toBe(
      lines(
        "RELATION      DISTANCE  RUN ID                ARTIFACT",
        "----------  ----------  --------------------  ----------",
        "source               1  local://torchx/base   weights",
        "source               2  s3://corpus",
        "descendant           1  local://torchx/small",
      ),
    );
    const sources = await cairn([...list, "--sources-only", "--json", "local://torchx/tuned"]);
    expect(sources.json()).toMatchObject({
      runs: [{ runId: "local://torchx/base" }, { runId: "s3://corpus" }],
    });
    const down = await cairn([...list, "--descendants-only", "--json", "local://torchx/tuned"]);
    expect(down.json()).toMatchObject({ runs: [{ runId: "local://torchx/small", relation: "descendant" }] });
    const through = await cairn([...list, "--artifact", "weights", "local://torchx/tuned", "--json"]);
    expect(through.json()).toMatchObject({
      runs: [{ runId: "local://torchx/base", artifacts: ["weights"] }],
    });
    const both = await cairn([...list, "--sources-only", "--descendants-only", "x"]);
    expect(both.code).toBe(2);
  });

  it("X17 an unknown run prints titles only, without an error", async () => {
    const metadata = await cairn(["tracker", "list", "metadata", "nobody"]);
    expect(metadata).toMatchObject({ code: 0, stdout: lines("ID    VALUE", "----  -------") });
    const artifacts = await cairn(["tracker", "list", "artifacts", "nobody"]);
    expect(artifacts).toMatchObject({
      code: 0,
      stdout: lines("ARTIFACT    PATH    METADATA", "----------  ------  ----------"),
    });
    expect((await cairn(["tracker", "list", "jobs", "--parent-run-id", "nobody"])).stdout).toBe(
      lines("JOB ID", "--------"),
    );
    expect(await cairn(["tracker"])).toMatchObject({ code: 0, stderr: "" });
    expect(await cairn(["tracker", "list"])).toMatchObject({ code: 0, stderr: "" });
    expect((await cairn(["tracker", "list", "metadata"])).code).toBe(2);
  });

  it("X18 uses the first tracker of .torchxconfig or the environment", async () => {
    const cwd = join(dir, "project");
    await mkdir(cwd);
    await writeFile(
      join(cwd, "mine.mjs"),
      `export const create = (config) => new Proxy({}, { get: (_, name) => name === "then" ? undefined : async (id) =>
        name === "runIds" ? [config + " " + (id.parentRunId ?? "all")] : new Map([["asked", name]]) });`,
    );
    await writeFile(
      join(cwd, ".torchxconfig"),
      "[torchx:tracker]\nbroken = ./absent.mjs:create\nmine = ./mine.mjs:create\ncairn =\n[tracker:mine]\nconfig = from file\n",
    );
    const jobs = await cairn(["tracker", "list", "jobs", "--json"], { cwd });
    expect(jobs.json()).toEqual(["from file all"]);
    expect(jobs.stderr).toContain('cannot use tracker "./absent.mjs:create"');
    const named = { cwd, env: { TORCHX_TRACKERS: "mine", TORCHX_TRACKER_MINE_CONFIG: "from env" } };
    const byEnv = await cairn(["tracker", "list", "jobs", "--parent-run-id", "p", "--json"], named);
    expect(byEnv.json()).toEqual(["from env p"]);
    expect(byEnv.stderr).toBe("");
    // A server that is named is meant.
    const server = await cairn(["tracker", "list", "jobs", "--json", "--server", terminal.server.url], named);
    expect(server.json()).toContain("local://torchx/base");
    // And so is the config of our own.
    const config = {
      cwd,
      env: { TORCHX_TRACKERS: "cairn", TORCHX_TRACKER_CAIRN_CONFIG: `${terminal.server.url}/elsewhere` },
    };
    expect((await cairn(["tracker", "list", "jobs", "--json"], config)).json()).toEqual([]);
  });

  it("X18 explains why no configured tracker can be used", async () => {
    const none = await cairn(["tracker", "list", "jobs"], { env: { TORCHX_TRACKERS: "no-such-tracker" } });
    expect(none.code).toBe(1);
    expect(none.stderr).toContain('cannot use tracker "no-such-tracker"');
    expect(none.stderr).toContain("--server");
    const bad = await cairn(["tracker", "list", "jobs"], { env: { TORCHXCONFIG: join(dir, "absent") } });
    expect(bad.stderr).toContain("cannot use TORCHXCONFIG");
    expect(bad.code).toBe(1);
    const away = await cairn(["tracker", "list", "jobs", "--server", "127.0.0.1:1"]);
    expect(away.code).toBe(5);
  });
});
