import { expect, test } from "vitest";
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  indexedField,
  parseFrames,
  PREFACE,
} from "#server/testing/frames.ts";
import { FLOODS, GET, many } from "#server/testing/floods.ts";
import { callHttp2, usePorts } from "#server/testing/port.ts";
import { RawClient } from "#server/testing/raw-client.ts";

const { open, session } = usePorts();

async function attack(port: number): Promise<RawClient> {
  const attacker = await RawClient.connect(port);
  await attacker.send(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0)]));
  await attacker.until(({ received }) => parseFrames(received).length > 0);
  return attacker;
}

test.each(FLOODS)(
  "S6: %s: the connection is closed and no other client is affected",
  async (_name, bytes) => {
    const { url, port } = await open({ onRequest: (_request, response) => void response.end("ok") });
    const healthy = session(url);
    await callHttp2(healthy, {});
    const attacker = await attack(port);
    attacker.socket.write(bytes());
    await attacker.closed();
    expect((await callHttp2(healthy, {})).body).toBe("ok");
  },
);

test("S6: a few kilobytes of HPACK that decompress to megabytes are refused before they are decompressed", async () => {
  const { url, port } = await open();
  const attacker = await attack(port);
  // One long value, remembered by the decoder, and then named thousands of times with one byte each.
  const remember = Buffer.concat([GET, indexedField("x-long", "a".repeat(3_900))]);
  await attacker.send(frame(FRAME.headers, END_HEADERS | END_STREAM, 1, remember));
  await attacker.until(({ received }) =>
    parseFrames(received).some(({ type, stream }) => type === FRAME.data && stream === 1),
  );
  const bomb = Buffer.concat([GET, Buffer.alloc(12_000, 0xbe)]);
  const before = process.memoryUsage().rss;
  await attacker.send(many(50, (at) => frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * at + 3, bomb)));
  const refused = ({ received }: RawClient): boolean =>
    parseFrames(received).filter(({ type }) => type === FRAME.rstStream).length >= 50;
  await Promise.race([attacker.until(refused), attacker.closed()]);
  // 50 times 12,000 values of 3,900 bytes would be two gigabytes.
  expect(process.memoryUsage().rss - before).toBeLessThan(256 << 20);
  const answered = parseFrames(attacker.received).filter(({ type }) => type === FRAME.headers);
  expect(answered.length).toBe(1);
  expect((await callHttp2(session(url), {})).body).toBe("2.0 GET / ");
  attacker.socket.destroy();
});
