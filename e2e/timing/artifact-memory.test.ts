import { mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { startCairn } from "../cli/testing/start-cairn.ts";

const MIB = 1 << 20;

describe("cairn artifacts", () => {
  const folder = mkdtempSync(join(tmpdir(), "cairn-large-"));
  let server: ChildServer;
  beforeAll(async () => {
    server = await startChild(["--data", join(folder, "data")]);
    await new Cairn({ url: server.url }).runs.createRun({ name: "holder" });
  });
  afterAll(async () => {
    server.child.kill("SIGKILL");
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  });

  it("T35 moves a large file in bounded memory", async () => {
    const size = 300 * MIB;
    const file = join(folder, "large.bin");
    writeFileSync(file, "");
    truncateSync(file, size);
    const report =
      "data:text/javascript,process.on('exit',()=>process.stderr.write('maxRSS '+process.resourceUsage().maxRSS))";
    const env = { HOME: folder, CAIRN_SERVER: server.url, NODE_OPTIONS: `--import="${report}"` };
    const target = join(folder, "target");
    mkdirSync(target);
    const sent = await startCairn(["artifacts", "put", "holder", file], { env });
    const got = await startCairn(["artifacts", "get", "holder", "large.bin", "-o", target], { env });
    expect(statSync(join(target, "large.bin")).size).toBe(size);
    for (const { stderr, code } of [sent, got]) {
      expect(code).toBe(0);
      const maxRssBytes = Number(/maxRSS (\d+)/.exec(stderr)?.[1]) * 1024;
      expect(maxRssBytes).toBeGreaterThan(0);
      expect(maxRssBytes).toBeLessThan(280 * MIB);
    }
  });
});
