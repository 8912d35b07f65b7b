import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { Writable } from "node:stream";
import { pino, type Logger } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { dose, tally } from "../../tools/dose.ts";
import { LimitedLog } from "./limited-log.ts";
import { writeCertificate } from "../testing/certificate.ts";
import { callHttp2, usePorts } from "../testing/port.ts";
import { makeFolder, startServer } from "../testing/servers.ts";

/** Many times what is written of one kind. */
const HANDSHAKES = dose(1_000, 10_000);

interface Line {
  msg: string;
  leftOut?: number;
  n?: number;
}

/** A real logger, and what it wrote. */
function record(): { log: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  return { log: pino({ level: "debug", base: null }, sink), lines };
}

function counted(lines: readonly Line[]): number {
  return lines.reduce((sum, { leftOut = 0 }) => sum + 1 + leftOut, 0);
}

describe("B11 lines that unknown clients cause", () => {
  const { open, session } = usePorts();

  it("B11 are limited by kind, and the next one has the number of those left out", async () => {
    const { log, lines } = record();
    const limited = new LimitedLog(log, { burst: 3, everyMs: 50 });
    for (let n = 0; n < 1000; n++) limited.debug({ n }, "one");
    limited.error({ n: 0 }, "another");
    expect(lines).toMatchObject([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 0, msg: "another" }]);
    await expect.poll(() => lines.length).toBe(5);
    // The newest of them, although no other followed.
    expect(lines[4]).toMatchObject({ msg: "one", n: 999, leftOut: 996 });
    expect(counted(lines)).toBe(1001);
    await expect.poll(() => (limited.debug({ n: 5 }, "one"), lines.at(-1))).toMatchObject({ n: 5 });
  });

  it(`B11 ${HANDSHAKES} failed handshakes are a few lines, with their count`, async () => {
    const folder = makeFolder();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { log, lines } = record();
    const started = performance.now();
    const server = await startServer(writeCertificate(folder).argv, {}, log);
    const { port } = server.listening;
    const knock = async (): Promise<void> => {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.resume();
      socket.end("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
      await once(socket, "close");
    };
    let left = HANDSHAKES;
    const knocking = Array.from({ length: 100 }, async () => {
      while (left-- > 0) await knock();
    });
    await Promise.all(knocking);
    await server.close();
    const failed = lines.filter(({ msg }) => msg === "TLS handshake failed");
    expect(counted(failed)).toBe(HANDSHAKES);
    tally("failed handshakes", HANDSHAKES);
    expect(failed.length).toBeLessThanOrEqual(12 + (performance.now() - started) / 10_000);
    expect(lines.length).toBeLessThanOrEqual(40 + (performance.now() - started) / 1_000);
  });

  it("B11 requests that fail are a few lines, and every client still gets its incident", async () => {
    const { log, lines } = record();
    const limited = new LimitedLog(log);
    const { url } = await open({
      log: limited,
      onRequest: () => {
        throw new Error("planted");
      },
    });
    const client = session(url);
    for (let n = 0; n < 100; n++) {
      const { body } = await callHttp2(client, {});
      expect(JSON.parse(body)).toMatchObject({ code: "internal" });
    }
    expect(lines.length).toBeLessThanOrEqual(11);
    limited.flush();
    expect(counted(lines)).toBe(100);
  });

  it("B11 requests that are refused write nothing", async () => {
    const { log, lines } = record();
    const server = await startServer(["--auth"], {}, log);
    onTestFinished(() => server.close());
    const client = session(server.listening.url);
    for (const headers of [
      { ":path": "/healthz", ":authority": "evil.example" },
      { ":path": "/metrics" },
      { ":path": "/metrics", authorization: "Bearer cairn_wrong" },
      { ":path": "/nothing" },
    ]) {
      await callHttp2(client, headers);
    }
    expect(lines).toEqual([]);
  });
});
