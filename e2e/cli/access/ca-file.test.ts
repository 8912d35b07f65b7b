import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCertificate } from "#server/testing/certificate.ts";
import { startServer } from "#server/testing/servers.ts";
import type { Server } from "#server/serve.ts";
import { startCairn } from "../testing/start-cairn.ts";

/** In processes of their own: which certificates are trusted belongs to a process. */
describe("a server with a certificate of the organization's own", () => {
  const home = mkdtempSync(join(tmpdir(), "cairn-ca-"));
  let server: Server;
  let ca = "";
  beforeAll(async () => {
    const certificate = writeCertificate(home);
    ca = certificate.certFile;
    server = await startServer(certificate.argv);
  });
  afterAll(async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  });
  const cairn = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    startCairn([...words, "--server", `https://127.0.0.1:${server.listening.port}`], {
      env: { HOME: home, ...env },
    });

  it("T261 is trusted through CAIRN_CA_FILE, by commands that call, watch, upload and look for problems", async () => {
    const env = { CAIRN_CA_FILE: ca };
    expect(await cairn(["log", "first", "--create", "-n", "lab", "loss=1"], env)).toMatchObject({ code: 0 });
    const file = join(home, "model.bin");
    writeFileSync(file, "weights");
    expect(await cairn(["artifacts", "put", "first", file], env)).toMatchObject({ code: 0 });
    expect((await cairn(["artifacts", "get", "first", "model.bin", "-o", "-"], env)).stdout).toBe("weights");
    expect(await cairn(["log", "first", "--status", "finished", "--line", "over"], env)).toMatchObject({
      code: 0,
    });
    expect((await cairn(["logs", "first", "-f"], env)).stdout).toBe("over\n");
    const findings = (await cairn(["doctor", "--json"], env)).json() as { check: string; level: string }[];
    expect(findings.find(({ check }) => check === "server")).toMatchObject({ level: "ok" });
  });

  it("T261 without it the message names the variable, and a file that cannot be used is named", async () => {
    const { code, stderr } = await cairn(["ls"]);
    expect(code).toBe(5);
    expect(stderr).toMatch(/certificate/);
    expect(stderr).toContain("CAIRN_CA_FILE names a PEM file");
    expect(stderr).not.toContain("cairn serve");
    const bad = join(home, "bad.pem");
    writeFileSync(bad, "not a certificate");
    const wrong = await cairn(["ls"], { CAIRN_CA_FILE: bad });
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain(bad);
  });
});
