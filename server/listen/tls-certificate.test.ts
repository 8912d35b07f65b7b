import { once } from "node:events";
import { chmodSync, chownSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { pino, type Logger } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "#base/clock.ts";
import type { Clock } from "#base/clock.ts";
import type { CairnError } from "#lang/errors.ts";
import { makeCertificate, writeCertificate, type CertificateFiles } from "../testing/certificate.ts";
import { startChild } from "../testing/child.ts";
import { callHttp2 } from "../testing/port.ts";
import { makeFolder, startServer } from "../testing/servers.ts";
import { TlsCertificate } from "./tls-certificate.ts";

const DAY_US = 86_400_000_000;

function folderForTest(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function record(): { log: Logger; lines: { level: number; msg: string; error?: string }[] } {
  const lines: { level: number; msg: string; error?: string }[] = [];
  const log = pino(
    { base: null },
    { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  );
  return { log, lines };
}

/** The certificate that a new connection is shown, in PEM. */
async function shownAt(port: number): Promise<string> {
  const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const shown = socket.getPeerX509Certificate()!.toString();
  socket.destroy();
  return shown;
}

describe("B8 the key's file", () => {
  const open = ({ certFile: cert, keyFile: key }: CertificateFiles): Promise<TlsCertificate> =>
    TlsCertificate.open({ cert, key }, systemClock, pino({ level: "silent" }));

  it.each([0o604, 0o644, 0o664, 0o444, 0o602, 0o777])("B8 S14: is refused with mode %o", async (mode) => {
    const files = writeCertificate(folderForTest());
    chmodSync(files.keyFile, mode);
    const refusal = (await open(files).catch((thrown: unknown) => thrown)) as CairnError;
    expect(refusal.message).toContain(`${files.keyFile}" with mode ${mode.toString(8)}: every user`);
    expect(refusal.hint).toContain(`chmod 600 "${files.keyFile}"`);
    expect(refusal.hint).toContain("defaultMode: 0400");
  });

  it.each([0o600, 0o400, 0o640, 0o440, 0o660])(
    "B8 S14: is accepted with mode %o from the server's user",
    async (mode) => {
      const files = writeCertificate(folderForTest());
      chmodSync(files.keyFile, mode);
      expect((await open(files)).pair.cert.toString()).toBe(files.cert);
    },
  );

  it.runIf(process.getuid?.() === 0)(
    "B8 S14: is refused where another user shares it with a group",
    async () => {
      const files = writeCertificate(folderForTest());
      chmodSync(files.keyFile, 0o640);
      chownSync(files.keyFile, 12_345, 12_345);
      await expect(open(files)).rejects.toThrow("its group may read it, and it belongs to user 12345");
      chmodSync(files.keyFile, 0o600);
      expect((await open(files)).pair.cert.toString()).toBe(files.cert);
    },
  );

  it("B8 S14: is checked, not the link to it", async () => {
    const folder = folderForTest();
    const files = writeCertificate(folder);
    const link = join(folder, "link.pem");
    symlinkSync(files.keyFile, link);
    expect((await open({ ...files, keyFile: link })).pair.cert.toString()).toBe(files.cert);
    chmodSync(files.keyFile, 0o644);
    await expect(open({ ...files, keyFile: link })).rejects.toThrow("with mode 644");
  });

  it("B8 S14: that is refused does not use up the token that is shown once", async () => {
    const folder = folderForTest();
    const { argv, keyFile } = writeCertificate(folder);
    const start = () => startServer([...argv, "--auth", "--data", join(folder, "data")]);
    chmodSync(keyFile, 0o644);
    await expect(start()).rejects.toThrow("cannot use TLS key");
    chmodSync(keyFile, 0o600);
    const server = await start();
    onTestFinished(() => server.close());
    expect(server.newToken).toMatch(/^cairn_/);
  });
});

describe("B9 a certificate that is replaced", () => {
  it("B9 S14: is used for new connections after SIGHUP, while open ones continue", async () => {
    const folder = folderForTest();
    const { cert, argv } = writeCertificate(folder);
    const server = await startChild(["--data", "memory:", "--log-level", "info", ...argv]);
    onTestFinished(() => void server.child.kill("SIGKILL"));
    const port = Number(new URL(server.url).port);
    expect(await shownAt(port)).toBe(cert);
    const before = connectHttp2(server.url, { ca: cert, servername: "localhost" });
    onTestFinished(() => before.destroy());
    expect((await callHttp2(before, { ":path": "/healthz" })).headers[":status"]).toBe(200);

    const renewed = writeCertificate(folder);
    server.child.kill("SIGHUP");
    await expect.poll(() => shownAt(port)).toBe(renewed.cert);
    expect((await callHttp2(before, { ":path": "/healthz" })).headers[":status"]).toBe(200);
    const after = connectHttp2(server.url, { ca: renewed.cert, servername: "localhost" });
    onTestFinished(() => after.destroy());
    expect((await callHttp2(after, { ":path": "/healthz" })).headers[":status"]).toBe(200);
    expect(server.log.join("\n")).toContain("TLS certificate reloaded");

    server.child.kill("SIGTERM");
    expect((await server.exited).code).toBe(0);
  });

  it("B9 S14: changes nothing until both files match, and logs it once", async () => {
    const folder = folderForTest();
    const files = writeCertificate(folder);
    const { log, lines } = record();
    const server = await startServer(files.argv, {}, log);
    onTestFinished(() => server.close());
    const { port } = server.listening;
    const renewed = makeCertificate();

    writeFileSync(files.certFile, renewed.cert);
    await server.reloadCertificate!();
    await server.reloadCertificate!();
    expect(lines).toMatchObject([
      { level: 50, msg: expect.stringContaining("the previous one stays in use") },
    ]);
    expect(await shownAt(port)).toBe(files.cert);

    writeFileSync(files.certFile, "half a certif");
    await server.reloadCertificate!();
    rmSync(files.certFile);
    await server.reloadCertificate!();
    writeFileSync(files.certFile, renewed.cert);
    writeFileSync(files.keyFile, renewed.key);
    chmodSync(files.keyFile, 0o644);
    await server.reloadCertificate!();
    expect(lines.map(({ error }) => error)).toEqual([
      expect.stringContaining("key values mismatch"),
      expect.stringContaining("cannot use TLS certificate"),
      expect.stringContaining("no such file"),
      expect.stringContaining("with mode 644"),
    ]);
    expect(await shownAt(port)).toBe(files.cert);

    chmodSync(files.keyFile, 0o600);
    await server.reloadCertificate!();
    expect(await shownAt(port)).toBe(renewed.cert);
    expect(lines.at(-1)).toMatchObject({ level: 30, msg: "TLS certificate reloaded" });
  });

  it("B9 S14: is found without a signal, also when the file is replaced", async () => {
    const folder = folderForTest();
    const { certFile: cert, keyFile: key } = writeCertificate(folder);
    const { log, lines } = record();
    const certificate = await TlsCertificate.open({ cert, key }, systemClock, log);
    const used: string[] = [];
    certificate.follow((pair) => used.push(String(pair.cert)), 10);
    onTestFinished(() => certificate.close());
    const second = writeCertificate(folder);
    await expect.poll(() => used.at(-1)).toBe(second.cert);

    const elsewhere = folderForTest();
    const third = writeCertificate(elsewhere);
    renameSync(third.certFile, cert);
    renameSync(third.keyFile, key);
    await expect.poll(() => used.at(-1)).toBe(third.cert);
    expect(readFileSync(cert, "utf8")).toBe(third.cert);
    // Unchanged files are not read: no line for each check.
    const settled = lines.length;
    const looks = used.length;
    rmSync(key);
    await expect.poll(() => lines.length).toBeGreaterThan(settled);
    expect([used.length, lines.length]).toEqual([looks, settled + 1]);
  });

  it("B9 S14: is announced 14 days before it ends, when it has ended, and in /metrics", async () => {
    const folder = folderForTest();
    const files = writeCertificate(folder, { days: 20 });
    const { log, lines } = record();
    let days = 0;
    const clock: Clock = { nowUs: () => systemClock.nowUs() + days * DAY_US };
    const server = await startServer(files.argv, { clock }, log);
    onTestFinished(() => server.close());
    const session = connectHttp2(server.listening.url, { ca: files.cert, servername: "localhost" });
    onTestFinished(() => session.destroy());
    const secondsLeft = async (): Promise<number> => {
      const { body } = await callHttp2(session, { ":path": "/metrics" });
      return Number(/^cairn_tls_certificate_expires_seconds (\S+)$/m.exec(body)?.[1]);
    };
    expect(lines).toEqual([]);
    expect(Math.round((await secondsLeft()) / 86_400)).toBe(20);
    days = 7;
    await server.reloadCertificate!();
    expect(lines.at(-1)).toMatchObject({ level: 40, msg: "TLS certificate expires soon: replace its files" });
    days = 21;
    await server.reloadCertificate!();
    expect(lines.at(-1)).toMatchObject({ level: 40, msg: "TLS certificate has expired: clients refuse it" });
    expect(Math.round((await secondsLeft()) / 86_400)).toBe(-1);
    const late = record();
    const again = await TlsCertificate.open({ cert: files.certFile, key: files.keyFile }, clock, late.log);
    again.follow(() => {}, 5);
    onTestFinished(() => again.close());
    writeCertificate(folder, { days: 100 });
    await expect.poll(() => late.lines.length).toBe(2);
    expect(late.lines.map(({ msg }) => msg)).toEqual([
      "TLS certificate has expired: clients refuse it",
      "TLS certificate reloaded",
    ]);
  });
});
