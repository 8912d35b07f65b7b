import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { EnvelopeAckSchema } from "#proto/cairn/v1/metric_pb.ts";
import { CreateRunResponseSchema } from "#proto/cairn/v1/run_pb.ts";
import { Cairn } from "#sdk/client.ts";
import { loginPath, writeLogins } from "#sdk/login.ts";
import { init } from "#sdk/run/init.ts";
import type { InitOptions } from "#sdk/run/init-options.ts";
import { envelopeNames } from "#sdk/spool/envelope-names.ts";
import { startChild } from "#server/testing/child.ts";
import { steadyPort } from "../steady-port.ts";
import { readNumbers } from "./job.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-hostile-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const RUN_ID = "01".repeat(16);
type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers with `handler`. */
async function listen(handler: Handler): Promise<string> {
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => handler(request, response, Buffer.concat(pieces)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sendProto(response: ServerResponse, bytes: Uint8Array): void {
  response.setHeader("content-type", "application/proto");
  response.end(bytes);
}

/** Opens runs as a server should; the test decides about envelopes. */
function opening(envelopes: (seq: number, response: ServerResponse) => void): Handler {
  return ({ url }, response, body) => {
    if (url?.endsWith("/CreateRun") === true) {
      const answer = create(CreateRunResponseSchema, { run: { id: RUN_ID }, created: true });
      sendProto(response, toBinary(CreateRunResponseSchema, answer));
    } else {
      // The run precedes what was spooled.
      envelopes(envelopeNames(body.subarray(36))?.seq ?? 0, response);
    }
  };
}

const ack = (seq: number) => toBinary(EnvelopeAckSchema, create(EnvelopeAckSchema, { seq: BigInt(seq) }));

function begin(url: string, options: InitOptions = {}) {
  const notices: string[] = [];
  const starting = init({
    server: url,
    spool: join(folder, "spool"),
    capture: false,
    handleExit: false,
    heartbeatSeconds: 0,
    openMs: 10_000,
    backoff: { firstMs: 5, mostMs: 30, refusedMs: 30 },
    onNotice: (text) => notices.push(text),
    ...options,
  });
  return { starting, notices };
}

describe("servers that misbehave", () => {
  it.each<[string, (response: ServerResponse) => void]>([
    [
      "a page of HTML",
      (response) => response.setHeader("content-type", "text/html").end("<html>log in</html>"),
    ],
    ["nothing", (response) => response.end()],
    ["an acknowledgement of something else", (response) => sendProto(response, ack(999))],
    ["broken protobuf", (response) => sendProto(response, Buffer.from([0x08, 0xff]))],
    ["a refusal that a proxy made", (response) => response.writeHead(400).end("bad request")],
    [
      "a refusal without the detail of a Cairn server",
      (response) =>
        response.writeHead(400, { "content-type": "application/json" }).end('{"code":"invalid_argument"}'),
    ],
    ["a redirect", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
    ["a cut connection", (response) => response.destroy()],
    ["megabytes without an end", (response) => void response.write(Buffer.alloc(1 << 20))],
  ])("C7 %s acknowledges nothing, and what is right afterwards does", async (_, misbehave) => {
    let patience = 4;
    const seen: number[] = [];
    const url = await listen(
      opening((seq, response) => {
        if (patience-- > 0) misbehave(response);
        else {
          seen.push(seq);
          sendProto(response, ack(seq));
        }
      }),
    );
    const { starting, notices } = begin(url);
    const run = await starting;
    run.log({ a: 1 });
    expect(await run.finish("finished", { deadlineMs: 120_000 })).toMatchObject({
      delivered: true,
      refused: 0,
    });
    expect(patience).toBeLessThanOrEqual(0);
    expect([...new Set(seen)].sort((a, b) => a - b)).toEqual([1, 2]);
    expect(notices.filter((text) => text.includes("the job continues")).length).toBe(1);
    expect(existsSync(run.spoolFolder)).toBe(false);
  });

  it("C9 one that asks to wait gets no request sooner", async () => {
    const asked: number[] = [];
    const url = await listen(
      opening((seq, response) => {
        asked.push(performance.now());
        if (asked.length > 1) {
          sendProto(response, ack(seq));
          return;
        }
        const detail = Buffer.from([
          0x1a,
          0x15,
          0x0a,
          0x0e,
          ...Buffer.from("retry_after_ms"),
          0x12,
          0x03,
          ...Buffer.from("250"),
        ]);
        const error = {
          code: "unavailable",
          message: "busy",
          details: [{ type: "cairn.v1.ErrorDetail", value: detail.toString("base64").replace(/=+$/, "") }],
        };
        response.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify(error));
      }),
    );
    const { starting } = begin(url);
    const run = await starting;
    run.log({ a: 1 });
    run.flush();
    expect(await run.delivered(120_000)).toBe(true);
    expect(asked[1]! - asked[0]!).toBeGreaterThan(200);
    await run.finish();
  });

  it("C9 a refused token is reported once, and pending data is delivered when it is accepted", async () => {
    const cairnServer = await startChild(["--data", "memory:", "--auth"]);
    const token = /cairn_\S+/.exec(cairnServer.greeting.join("\n"))?.[0];
    expect(token).toBeDefined();
    const home = mkdtempSync(join(folder, "home-"));
    const env = { HOME: home, PATH: process.env["PATH"] };
    await writeLogins({ servers: { [cairnServer.url]: { token: "cairn_wrong" } } }, loginPath(env));
    const { starting, notices } = begin(cairnServer.url, { env, openMs: 200 });
    const run = await starting;
    run.log({ a: 1 });
    const refusals = () => notices.filter((text) => text.includes("refuses this run")).length;
    await expect.poll(refusals).toBe(1);
    expect(await run.delivered(300)).toBe(false);
    expect(refusals()).toBe(1);
    expect(notices.join("\n")).not.toContain("cairn_wrong");
    // What this person can do, and not a header.
    expect(notices.join("\n")).toContain(
      `log in with \`cairn login ${cairnServer.url}\`, or set CAIRN_TOKEN`,
    );
    expect(notices.join("\n")).not.toContain("authorization");
    await writeLogins({ servers: { [cairnServer.url]: { token: token! } } }, loginPath(env));
    expect(await run.finish("finished", { deadlineMs: 120_000 })).toMatchObject({ delivered: true });
    const client = new Cairn({ url: cairnServer.url, token });
    expect((await readNumbers(client, run.id!, "a")).values).toEqual([1]);
    cairnServer.child.kill("SIGKILL");
    await cairnServer.exited;
  });

  it("C1 invalid values never throw, whatever the server does", async () => {
    const url = await listen((_request, response) => response.writeHead(500).end("no"));
    const { starting, notices } = begin(url, { openMs: 200 });
    const run = await starting;
    const strange: unknown[] = [
      undefined,
      null,
      5,
      "text",
      [],
      () => 1,
      Symbol("x"),
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no");
          },
        },
      ),
    ];
    for (const one of strange) {
      run.log(one as Record<string, unknown>);
      run.log({ a: one });
      run.params.set(one as Record<string, never>);
      run.params.set({ a: one as number });
      run.tag(one as string, one as string);
      run.line(one as string);
      run.log({ a: 1 }, one as object);
      run.log({ a: 1 }, { step: one as number, labels: one as Record<string, string>, time: one as number });
      await run.artifact(one as string, one as string, one as Record<string, never>);
      await run.media(one as string, one as string, one as object);
      run.source(one as string, one as string);
    }
    expect(notices.length).toBeGreaterThan(5);
    expect(await run.finish("finished", { deadlineMs: 50 })).toMatchObject({ delivered: false });
  });

  it("C9 a run that began without a server is there when the server comes", async () => {
    const port = await steadyPort();
    const url = `http://127.0.0.1:${port}`;
    const { starting, notices } = begin(url, { name: "early", params: { lr: 1 }, openMs: 200 });
    const run = await starting;
    run.log({ a: 1 });
    expect(run.id).toBeUndefined();
    const late = await startChild(["--data", "memory:", "--port", String(port)]);
    run.log({ a: 2 });
    expect(await run.finish("finished", { deadlineMs: 120_000 })).toMatchObject({ delivered: true });
    const client = new Cairn({ url: late.url });
    expect(await client.runs.getRun({ run: { id: run.id! } })).toMatchObject({
      name: "early",
      params: { lr: "1" },
    });
    expect((await readNumbers(client, run.id!, "a")).values).toEqual([1, 2]);
    expect(notices.filter((text) => text.includes("cannot reach")).length).toBe(1);
    late.child.kill("SIGKILL");
    await late.exited;
  });
});
