import { expect, it } from "vitest";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  parseFrames,
  PREFACE,
  requestFields,
} from "../testing/frames.ts";
import { usePorts } from "../testing/port.ts";
import { RawClient } from "../testing/raw-client.ts";
import { useServer } from "../testing/servers.ts";

const server = useServer();
const { open } = usePorts();

it("W5 first bytes that arrive one at a time are joined", async () => {
  const { port } = server().listening;
  const first = await RawClient.connect(port);
  await first.sendByteByByte(
    Buffer.from("GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"),
  );
  await first.closed();
  expect(first.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\{"status":"ready"\}$/);
  const second = await RawClient.connect(port);
  const request = frame(FRAME.headers, END_HEADERS | END_STREAM, 1, requestFields("GET", "/readyz"));
  await second.sendByteByByte(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), request]));
  await second.until(({ received }) =>
    parseFrames(received).some(({ type, stream }) => type === FRAME.data && stream === 1),
  );
  expect(second.text).toContain('{"status":"ready"}');
  second.socket.destroy();
});

it("W5 invalid bytes are answered or closed, and do not affect others", async () => {
  const { port, url } = server().listening;
  const garbage = [
    Buffer.from("\u0000\u0001\u0002\u0003".repeat(50)),
    Buffer.from("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"),
    Buffer.concat([PREFACE, Buffer.from("not a frame of any kind, and long enough")]),
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]),
    Buffer.from("GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n"),
  ];
  for (const bytes of garbage) {
    const client = await RawClient.connect(port);
    await client.send(bytes);
    client.socket.end();
    await client.closed();
    expect(client.text).not.toContain("200 OK");
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  }
});

it("W5 a socket that sends nothing, or not enough, is closed in time", async () => {
  const { port } = await open({ limits: { sniffMs: 50 } });
  for (const start of ["", "P", "PRI * HTTP/2.0\r\n"]) {
    const client = await RawClient.connect(port);
    if (start !== "") await client.send(start);
    await client.closed();
    expect(client.text).toBe("");
  }
});
