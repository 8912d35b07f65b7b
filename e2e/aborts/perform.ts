import type { Attempt } from "./attempt.ts";
import { Line } from "./line.ts";
import { Random } from "./random.ts";

/** An answer may never come: the request was cut off, or a stream has no message yet. */
const ANSWER_MS = 150;
const SEND_MS = 1_000;
const HALF_CLOSED_MS = 40;
const STALLED_MS_MAX = 30;
const PAUSE_MS_MAX = 3;

/** Opens the connection, sends the bytes and ends it as planned. */
export async function perform(attempt: Attempt, port: number, isTls: boolean): Promise<void> {
  const line = new Line(port, isTls ? { alpn: attempt.alpn } : undefined);
  // Not from the plan, which has to stay the same when this changes.
  const random = new Random(attempt.index, attempt.bytes.length);
  try {
    if (attempt.moment.at === "handshake") {
      await pass(attempt.moment.ms);
    } else {
      if (!(await line.opened())) return;
      if (attempt.end === "stall") line.socket.pause();
      await sendUntilMoment(line, attempt);
    }
    await end(line, attempt, random);
  } finally {
    await line.closed();
  }
}

async function sendUntilMoment(line: Line, { bytes, cuts, moment, farewell }: Attempt): Promise<void> {
  const sent = moment.at === "some bytes" ? bytes.subarray(0, moment.count) : bytes;
  const places = [0, ...cuts.filter((cut) => cut < sent.length), sent.length];
  const pieces = places.slice(1).map((place, i) => sent.subarray(places[i], place));
  const last = pieces.pop()!;
  for (const piece of pieces) {
    await line.send(piece, SEND_MS);
    await nextTurn();
  }
  if (line.socket.destroyed) return;
  if (moment.at === "same tick") {
    void line.send(Buffer.concat([last, farewell]), SEND_MS);
    return;
  }
  await line.send(last, SEND_MS);
  if (moment.at === "delay") await pass(moment.ms);
  else if (moment.at === "first byte") await line.until(() => line.receivedBytes > 0, ANSWER_MS);
  else if (moment.at === "middle") await line.until(() => line.receivedBytes >= moment.bytes, ANSWER_MS);
}

async function end(line: Line, { end: how, moment, farewell }: Attempt, random: Random): Promise<void> {
  switch (how) {
    case "reset":
      line.reset();
      break;
    case "destroy":
      line.socket.destroy();
      break;
    case "no notify":
      line.raw.destroy();
      break;
    case "half-close":
      line.socket.end();
      await line.until(() => line.socket.readableEnded, HALF_CLOSED_MS);
      break;
    case "stall":
      await pass(random.next() * STALLED_MS_MAX);
      if (random.chance(0.5)) line.reset();
      break;
    case "reset streams":
    case "goaway":
      if (line.socket.destroyed) return;
      if (moment.at !== "same tick") await line.send(farewell, SEND_MS);
      await pass(random.next() * PAUSE_MS_MAX);
      break;
  }
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Timers have a resolution of a millisecond, and the bugs to find happen within one. */
async function pass(ms: number): Promise<void> {
  const endMs = performance.now() + ms;
  do await nextTurn();
  while (performance.now() < endMs);
}
