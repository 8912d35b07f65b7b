import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { openBadLine } from "./testing/bad-line.ts";
import { useTerminal } from "./testing/cairn.ts";
import { createRun } from "./testing/sample-runs.ts";
import { START } from "./testing/start-cairn.ts";

const MIB = 1 << 20;
const folder = mkdtempSync(join(tmpdir(), "cairn-artifacts-"));
const data = join(folder, "data");

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("cairn artifacts", () => {
  const terminal = useTerminal(["--data", data]);
  const { cairn } = terminal;
  let run: Run;
  let targets = 0;
  /** For a single file, a target that is not a folder yet would be the file itself. */
  const newTarget = () => {
    const target = join(folder, `target-${targets++}`);
    mkdirSync(target);
    return target;
  };
  const write = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const put = async (name: string, content: string | Buffer, step?: number) => {
    const query = step === undefined ? "" : `?step=${step}`;
    const response = await terminal.client.fetch(`/artifacts/${run.id}/${name}${query}`, {
      method: "PUT",
      body: new Uint8Array(Buffer.from(content as string)),
    });
    expect(response.status).toBe(201);
  };
  beforeAll(async () => {
    run = await createRun(terminal.client, { name: "holder" });
  });

  it("T32 uploads files and folders with kind, step and metadata, and records addresses", async () => {
    const model = write("model.pt", "weights");
    mkdirSync(join(folder, "plots", "deep"), { recursive: true });
    write("plots/a.txt", "a");
    write("plots/deep/b.txt", "b");
    symlinkSync("/etc/passwd", join(folder, "plots", "link"));
    const named = [
      "--name",
      "ckpt/m.pt",
      "--kind",
      "model",
      "--step",
      "7",
      "--meta",
      "acc=0.9",
      "--meta",
      "by=jürgen",
    ];
    expect(await cairn(["artifacts", "put", "holder", model, ...named])).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(
      await cairn(["artifacts", "put", "holder", join(folder, "plots"), "--prefix", "fig/"]),
    ).toMatchObject({
      code: 0,
      stdout: "✓ fig/plots/a.txt  1 B\n✓ fig/plots/deep/b.txt  1 B\n",
    });
    expect(await cairn(["artifacts", "put", "holder", "s3://models/400", "--name", "far"])).toMatchObject({
      code: 0,
    });
    const { artifacts } = (await cairn(["artifacts", "ls", "holder", "--json"])).json() as {
      artifacts: unknown[];
    };
    expect(artifacts).toMatchObject([
      {
        name: "ckpt/m.pt",
        step: 7,
        kind: "model",
        place: "stored",
        sizeBytes: 7,
        metadata: { acc: 0.9, by: "jürgen" },
      },
      { name: "far", place: "reference", uri: "s3://models/400" },
      { name: "fig/plots/a.txt" },
      { name: "fig/plots/deep/b.txt" },
    ]);
    const listed = await cairn(["artifacts", "ls", "holder", "--prefix", "fig/"]);
    expect(listed.stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(listed.stderr).toBe("2 artifacts, 2 B stored\n");
  });

  it("T31 downloads a file, a folder and everything, and leaves existing files alone", async () => {
    await put("get/one.txt", "one");
    await put("get/deep/two.txt", "two");
    const target = newTarget();
    const folderGet = await cairn(["artifacts", "get", "holder", "get", "-o", target]);
    expect(folderGet).toMatchObject({ code: 0 });
    expect(readFileSync(join(target, "get/deep/two.txt"), "utf8")).toBe("two");
    const again = await cairn(["artifacts", "get", "holder", "get/", "-o", target]);
    expect(again.stdout.match(/\(unchanged\)/g)).toHaveLength(2);
    writeFileSync(join(target, "get/one.txt"), "mine");
    const refused = await cairn(["artifacts", "get", "holder", "get/one.txt", "-o", target]);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stdout).toContain("a file of other content is there");
    expect(readFileSync(join(target, "get/one.txt"), "utf8")).toBe("mine");
    expect((await cairn(["artifacts", "get", "holder", "get/one.txt", "-o", target, "--force"])).code).toBe(
      0,
    );
    expect(readFileSync(join(target, "get/one.txt"), "utf8")).toBe("one");
    const file = join(target, "renamed.txt");
    expect((await cairn(["artifacts", "get", "holder", "get/one.txt", "-o", file])).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(await cairn(["artifacts", "get", "holder", "get/one.txt", "-o", "-"])).toMatchObject({
      code: 0,
      stdout: "one",
    });
    expect(await cairn(["artifacts", "get", "holder", "nothing"])).toMatchObject({ code: 3 });
    expect(await cairn(["artifacts", "get", "holder"])).toMatchObject({ code: 2 });
  });

  it("T31 gets the requested step, the last one, or all", async () => {
    for (const step of [1, 20, 3]) await put("steps/s.txt", `step ${step}`, step);
    const get = async (...words: string[]) =>
      (await cairn(["artifacts", "get", "holder", "steps/s.txt", ...words])).stdout;
    expect(await get("-o", "-")).toBe("step 20");
    expect(await get("-o", "-", "--step", "3")).toBe("step 3");
    const target = newTarget();
    await get("-o", target, "--all-steps");
    expect(readdirSync(join(target, "steps")).sort()).toEqual([
      "s.step-1.txt",
      "s.step-20.txt",
      "s.step-3.txt",
    ]);
    const below = newTarget();
    await cairn(["artifacts", "get", "holder", "steps/", "-o", below]);
    expect(readFileSync(join(below, "steps/s.txt"), "utf8")).toBe("step 20");
  });

  it("T31 resumes after broken connections", async () => {
    const content = randomBytes(6 * MIB);
    await put("broken.bin", content);
    await using line = await openBadLine(terminal.server.url, { breaks: 3, downBytes: 2 * MIB });
    const target = newTarget();
    const got = await cairn(["artifacts", "get", "holder", "broken.bin", "-o", target], {
      env: { CAIRN_SERVER: line.url },
    });
    expect(got).toMatchObject({ code: 0 });
    expect(line.broken).toBe(3);
    expect(readFileSync(join(target, "broken.bin")).equals(content)).toBe(true);
    await using other = await openBadLine(terminal.server.url, { breaks: 2, downBytes: MIB });
    const piped = await cairn(["artifacts", "get", "holder", "get/one.txt", "-o", "-"], {
      env: { CAIRN_SERVER: other.url },
    });
    expect(piped.stdout).toBe("one");
  });

  it("T31 resumes after it was killed, and starts again when the part is damaged", async () => {
    const content = randomBytes(8 * MIB);
    await put("killed.bin", content);
    for (const damage of [false, true]) {
      const target = newTarget();
      await using line = await openBadLine(terminal.server.url, {
        breaks: 1,
        downBytes: 5 * MIB,
        stall: true,
      });
      const child = start(["artifacts", "get", "holder", "killed.bin", "-o", target], line.url);
      const part = () => join(target, readdirSync(target).find((name) => name.endsWith(".part")) ?? "none");
      await expect
        .poll(() => existsSync(target) && existsSync(part()) && statSync(part()).size)
        .toBeGreaterThan(3 * MIB);
      child.kill("SIGKILL");
      await once(child, "exit");
      if (damage) writeFileSync(part(), randomBytes(4 * MIB));
      const { files } = (
        await cairn(["artifacts", "get", "holder", "killed.bin", "-o", target, "--json"])
      ).json() as {
        files: unknown[];
      };
      expect(files).toMatchObject([{ outcome: damage ? "fetched" : "resumed" }]);
      expect(readFileSync(join(target, "killed.bin")).equals(content)).toBe(true);
      expect(readdirSync(target)).toEqual(["killed.bin"]);
    }
  });

  it("T31 stores nothing of content that differs from the announced one", async () => {
    await put("tampered.bin", Buffer.alloc(2 * MIB, 1));
    const tamper = (chunk: Buffer) => {
      if (chunk.length > 30_000) chunk[20_000]! ^= 1;
      return chunk;
    };
    await using line = await openBadLine(terminal.server.url, { tamper });
    const target = newTarget();
    const got = await cairn(["artifacts", "get", "holder", "tampered.bin", "-o", target], {
      env: { CAIRN_SERVER: line.url },
    });
    expect(got.stdout).toContain("its SHA-256 is not");
    expect(got.code).toBe(1);
    expect(readdirSync(target)).toEqual([]);
  });

  it("T32 resumes after broken connections and after it was killed", async () => {
    const content = randomBytes(30 * MIB);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const file = write("up.bin", content);
    await using broken = await openBadLine(terminal.server.url, { breaks: 2, upBytes: 10 * MIB });
    const sent = await cairn(["artifacts", "put", "holder", file, "--name", "up-1"], {
      env: { CAIRN_SERVER: broken.url },
    });
    expect(sent).toMatchObject({ code: 0 });
    expect(broken.broken).toBe(2);

    writeFileSync(file, content.reverse());
    const reversed = createHash("sha256").update(content).digest("hex");
    await using stalled = await openBadLine(terminal.server.url, {
      breaks: 1,
      upBytes: 20 * MIB,
      stall: true,
    });
    const child = start(["artifacts", "put", "holder", file, "--name", "up-2"], stalled.url);
    await expect.poll(() => stalled.broken).toBe(1);
    child.kill("SIGKILL");
    await once(child, "exit");
    const { artifacts } = (
      await cairn(["artifacts", "put", "holder", file, "--name", "up-2", "--json"])
    ).json() as {
      artifacts: unknown[];
    };
    expect(artifacts).toMatchObject([{ outcome: "resumed", sha256: reversed, sizeBytes: 30 * MIB }]);
    const stored = await terminal.client.artifacts.listArtifacts({ run: { id: run.id }, prefix: "up-" });
    expect(stored.artifacts.map((one) => [one.name, one.sha256])).toEqual([
      ["up-1", sha256],
      ["up-2", reversed],
    ]);
  });

  it("T33, S12: writes nothing through a link and no two names into one file", async () => {
    const outside = newTarget();
    const target = newTarget();
    symlinkSync(outside, join(target, "trap"));
    symlinkSync(join(outside, "new"), join(target, "leaf"));
    const own = await createRun(terminal.client, { name: "trapper" });
    for (const name of ["trap/x", "leaf", "Same", "same", "good"]) {
      await terminal.client.artifacts.recordArtifact({
        run: { id: own.id },
        artifact: { name, content: Buffer.from(name) },
      });
    }
    const got = await cairn(["artifacts", "get", "trapper", "--all", "-o", target]);
    expect(got.code).toBe(1);
    expect(got.stdout).toContain(
      `cannot write artifact "trap/x": "${join(target, "trap")}" is a symbolic link`,
    );
    expect(got.stdout).toContain("differs from it only in capitals");
    expect(readdirSync(outside)).toEqual([]);
    expect(readdirSync(target).sort()).toEqual(["Same", "good", "leaf", "trap"]);
    expect(readFileSync(join(target, "good"), "utf8")).toBe("good");
  });

  it("T34 reports failures, downloads the others, and lists references", async () => {
    const sent = await cairn([
      "artifacts",
      "put",
      "holder",
      write("ok.txt", "ok"),
      join(folder, "missing.txt"),
    ]);
    expect(sent.code).toBe(1);
    expect(sent.stdout).toContain("✓ ok.txt  2 B\n");
    expect(sent.stdout).toMatch(/✗ .*missing\.txt: cannot read ".*missing\.txt": there is no such file\n/);
    expect(sent.stderr).toContain("cannot put 1 of 2 files");
    const own = await createRun(terminal.client, { name: "pointer" });
    const record = (name: string, uri: string) =>
      terminal.client.artifacts.recordArtifact({ run: { id: own.id }, artifact: { name, uri } });
    await record("models/far", "s3://m/1");
    expect(await cairn(["artifacts", "get", "pointer", "models/", "-o", newTarget()])).toMatchObject({
      code: 0,
      stdout: "→ models/far is a reference: s3://m/1\n",
    });
    expect(await cairn(["artifacts", "get", "pointer", "models/far"])).toMatchObject({ code: 1 });
  });
});

function start(words: readonly string[], url: string) {
  return spawn(process.execPath, [START, ...words], {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", NO_COLOR: "1", CAIRN_SERVER: url },
    stdio: "ignore",
    timeout: 120_000,
  });
}
