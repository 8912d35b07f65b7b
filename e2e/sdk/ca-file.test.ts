import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeCertificate, type CertificateFiles } from "#server/testing/certificate.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { startJob } from "./job.ts";

const START = fileURLToPath(new URL("../../cli/start.js", import.meta.url));

let server: ChildServer;
let files: CertificateFiles;
let url: string;
const folder = mkdtempSync(join(tmpdir(), "cairn-ca-"));

beforeAll(async () => {
  files = writeCertificate(folder);
  server = await startChild(["--data", "memory:", ...files.argv]);
  // The name that is in the certificate.
  url = server.url.replace("127.0.0.1", "localhost");
});

afterAll(async () => {
  server.child.kill("SIGKILL");
  await server.exited;
  await rm(folder, { recursive: true, force: true });
});

let count = 0;

/** A job that logs a point and uploads a file that does not fit into an envelope. */
async function job(env: NodeJS.ProcessEnv, patienceMs = 30_000) {
  const spool = join(folder, `spool-${++count}`);
  const done = startJob(
    `import { writeFileSync } from "node:fs";
     const run = await cairn.init({ server: "${url}", spool: "${spool}", capture: false, openMs: ${patienceMs}, finishMs: ${patienceMs} });
     run.log({ a: 1 });
     writeFileSync("${folder}/model.bin", new Uint8Array(600_000));
     await run.artifact("model.bin", "${folder}/model.bin");
     const { delivered } = await run.finish();
     console.log(delivered);`,
    { env: { HOME: folder, ...env } },
  );
  await done.exited;
  return { delivered: done.lines, stderr: done.stderr() };
}

async function command(words: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [START, ...words], {
    env: { PATH: process.env["PATH"], HOME: folder, ...env },
  });
  child.stdin.end();
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: child.exitCode, stdout, stderr };
}

describe("CAIRN_CA_FILE", () => {
  it("C249 names authorities that calls and uploads trust", async () => {
    expect(await job({ CAIRN_CA_FILE: files.certFile })).toEqual({ delivered: ["true"], stderr: "" });
    expect((await job({ NODE_EXTRA_CA_CERTS: files.certFile })).delivered).toEqual(["true"]);
    const without = await job({}, 300);
    expect(without.delivered).toEqual(["false"]);
    expect(without.stderr).toContain("self-signed certificate");
  });

  it("C249 that cannot be used is named, and the job goes on with the server that was chosen", async () => {
    const missing = join(folder, "missing.pem");
    const { stderr, delivered } = await job({ CAIRN_CA_FILE: missing }, 300);
    expect(delivered).toEqual(["false"]);
    expect(stderr).toContain(`cannot use CAIRN_CA_FILE "${missing}": there is no such file`);
    expect(stderr).toContain(url);
    const empty = join(folder, "empty.pem");
    writeFileSync(empty, "nothing\n");
    expect((await job({ CAIRN_CA_FILE: empty }, 300)).stderr).toContain(
      "it has no certificate in PEM format",
    );
    writeFileSync(empty, files.cert.replace(/MI[A-Za-z0-9]/, "AAA"));
    expect((await job({ CAIRN_CA_FILE: empty }, 300)).stderr).toContain("certificate 1 in it is damaged");
  });

  it("C249 holds for commands, too, also for a login and for a call over plain HTTP", async () => {
    const env = { CAIRN_CA_FILE: files.certFile, CAIRN_SERVER: url };
    expect(await command(["ls", "--json"], env)).toMatchObject({ code: 0, stderr: "" });
    expect(await command(["login", url], env)).toMatchObject({ code: 0 });
    const refused = await command(["ls"], { CAIRN_SERVER: url });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("self-signed certificate");
    const missing = await command(["ls"], { ...env, CAIRN_CA_FILE: "/nonexistent.pem" });
    expect(missing.code).not.toBe(0);
    expect(missing.stderr).toContain('cannot use CAIRN_CA_FILE "/nonexistent.pem": there is no such file');
    // An address without TLS needs none.
    const plain = { CAIRN_CA_FILE: "/nonexistent.pem", CAIRN_SERVER: "http://127.0.0.1:9" };
    expect((await command(["ls"], plain)).stderr).not.toContain("CA_FILE");
  });
});
