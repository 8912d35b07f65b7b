import { once } from "node:events";
import { Writable } from "node:stream";
import { createConnectTransport } from "@connectrpc/connect-node";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientsOf } from "#wire/connect/testing/ways.ts";
import { RawClient } from "../testing/raw-client.ts";
import { startServer } from "../testing/servers.ts";
import type { Server } from "../serve.ts";

/** Line breaks of headers and logs, plain and encoded. */
const BREAKS = ["%0d%0a", "%0a", "%0d", "%250d%250a", "%E2%80%A8", "%C2%85", "%00"];
const PLANTED = "x-planted: yes";

describe("S9 line breaks in what a client names", () => {
  const logged: string[] = [];
  let server: Server;

  beforeAll(async () => {
    const lines = new Writable({
      write(chunk, _, done) {
        logged.push(String(chunk));
        done();
      },
    });
    server = await startServer([], {}, pino({ level: "debug" }, lines));
  });
  afterAll(() => server.close());

  async function answerTo(head: string): Promise<string> {
    const client = await RawClient.connect(Number(new URL(server.listening.url).port));
    await client.send(`${head}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
    if (!client.socket.destroyed) await once(client.socket, "close");
    return client.text;
  }

  it.each(BREAKS)("S9 %s adds no header to an answer", async (lineBreak) => {
    const { runs, artifacts } = clientsOf(
      createConnectTransport({ baseUrl: server.listening.url, httpVersion: "1.1" }),
    );
    const { run } = await runs.createRun({ namespace: "lines", name: "r" });
    const id = run!.id;
    const planted = `a${lineBreak}${encodeURIComponent(PLANTED)}`;
    const put = await answerTo(`PUT /artifacts/${id}/${planted} HTTP/1.1\r\ncontent-length: 0`);
    const type = await artifacts
      .recordArtifact({
        run: { id },
        artifact: {
          name: "typed",
          content: new Uint8Array([1]),
          mediaType: `text/plain${decodeURIComponent(lineBreak)}${PLANTED}`,
        },
      })
      .then(() => "kept")
      .catch(() => "refused");
    expect(type).toBe("refused");
    const paths = [
      `/artifacts/${id}/${planted}`,
      `/artifacts/${id}/typed`,
      `/results/${planted}/r/k`,
      `/${planted}`,
    ];
    const answers = await Promise.all(paths.map((path) => answerTo(`GET ${path} HTTP/1.1`)));
    for (const answer of [put, ...answers]) {
      expect(answer).toMatch(/^HTTP\/1\.1 \d{3}/);
      const [head] = answer.split("\r\n\r\n");
      expect(head!.split(/[\r\n\u0085\u2028]+/).some((line) => line.startsWith("x-planted"))).toBe(false);
    }
  });

  it("S9 a log event stays one line", async () => {
    await answerTo(`GET /nothing HTTP/1.1\r\nuser-agent: a\tb\r\nx-forwarded-for: {"level":60}`);
    await answerTo(`GET /%0a{"level":60,"msg":"planted"} HTTP/1.1`);
    await answerTo('\x16\x03\x01 not HTTP at all\n{"level":60,"msg":"planted"}');
    for (const chunk of logged) {
      expect(chunk.endsWith("\n")).toBe(true);
      expect(chunk.trimEnd()).not.toContain("\n");
      expect(JSON.parse(chunk)).not.toMatchObject({ msg: "planted" });
    }
  });
});
