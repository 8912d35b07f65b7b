import { chooseAsk, type Ask } from "./asks.ts";
import { writeHttp1 } from "./http1-bytes.ts";
import { writeGoaway, writeHttp2, writeResets } from "./http2-bytes.ts";
import type { Target } from "./methods.ts";
import { Random } from "./random.ts";

export type Http = "http1" | "http2";

/** How a connection ends. */
export const ENDS = [
  "reset",
  "destroy",
  "half-close",
  "stall", // reads nothing, and is gone some time later
  "no notify", // TLS without its last word
  "reset streams", // HTTP/2
  "goaway", // HTTP/2
] as const;
export type End = (typeof ENDS)[number];

/** When it ends. */
export type Moment =
  | { at: "handshake"; ms: number } // TLS
  | { at: "some bytes"; count: number }
  | { at: "same tick" }
  | { at: "all written" }
  | { at: "delay"; ms: number }
  | { at: "first byte" }
  | { at: "middle"; bytes: number };

/** Everything about one connection, decided before it is opened. */
export interface Attempt {
  index: number;
  http: Http;
  /** What TLS offers; undefined: nothing. */
  alpn: string | undefined;
  asks: readonly Ask[];
  bytes: Buffer;
  /** Frames that end streams or the session. At the same tick they are part of the last write. */
  farewell: Buffer;
  /** Places in the bytes where one write ends and the next begins. */
  cuts: readonly number[];
  moment: Moment;
  end: End;
}

const PIPELINED_MAX = 8;
const STREAMS_MAX = 16;
const DELAY_MS_MAX = 3;
const CUTS_MAX = 6;

export function planAttempt(seed: number, index: number, isTls: boolean, target: Target): Attempt {
  const random = new Random(seed, index);
  const http = random.pick(["http1", "http2"] as const);
  const count = random.between(1, http === "http1" ? PIPELINED_MAX : STREAMS_MAX);
  // Half of them repeat one request: what happens to one stream may need others in the same state.
  const first = chooseAsk(random, target);
  const repeats = random.chance(0.5);
  const asks = Array.from({ length: count }, (_, i) =>
    i === 0 || repeats ? first : chooseAsk(random, target),
  );
  const { bytes, streams } =
    http === "http1"
      ? { bytes: writeHttp1(asks, random), streams: [] }
      : writeHttp2(asks, isTls ? "https" : "http", random);
  const end = chooseEnd(http, isTls, random);
  return {
    index,
    http,
    alpn: chooseAlpn(http, random),
    asks,
    bytes,
    cuts: chooseCuts(bytes.length, random),
    moment: chooseMoment(bytes.length, isTls, random),
    end,
    farewell: chooseFarewell(end, streams, random),
  };
}

function chooseFarewell(end: End, streams: readonly number[], random: Random): Buffer {
  const parts: Buffer[] = [];
  if (end === "reset streams" || (end === "goaway" && random.chance(0.3))) {
    parts.push(writeResets(streams, random));
  }
  if (end === "goaway") parts.push(writeGoaway(random));
  return Buffer.concat(parts);
}

/** Seldom the wrong one. */
function chooseAlpn(http: Http, random: Random): string | undefined {
  const right = http === "http2" ? "h2" : "http/1.1";
  return random.chance(0.9) ? right : random.pick(["h2", "http/1.1", undefined]);
}

function chooseCuts(length: number, random: Random): number[] {
  if (random.chance(0.6)) return [];
  const cuts = Array.from({ length: random.between(1, CUTS_MAX) }, () => random.between(1, length));
  return cuts.sort((a, b) => a - b);
}

function chooseMoment(length: number, isTls: boolean, random: Random): Moment {
  if (isTls && random.chance(0.08)) return { at: "handshake", ms: random.next() * DELAY_MS_MAX };
  return random.pick([
    () => ({ at: "some bytes", count: random.between(0, length) }) as const,
    () => ({ at: "same tick" }) as const,
    () => ({ at: "all written" }) as const,
    () => ({ at: "delay", ms: random.next() * DELAY_MS_MAX }) as const,
    () => ({ at: "first byte" }) as const,
    () => ({ at: "middle", bytes: random.pick([100, 1_000, 20_000, 200_000, 2_000_000]) }) as const,
  ])();
}

function chooseEnd(http: Http, isTls: boolean, random: Random): End {
  return random.pick(
    ENDS.filter((end) => {
      if (end === "no notify") return isTls;
      return http === "http2" || (end !== "reset streams" && end !== "goaway");
    }),
  );
}

/** One line, for people. */
export function describeAttempt({ index, http, alpn, asks, bytes, cuts, moment, end }: Attempt): string {
  const { at, ...more } = moment;
  const when = [at, ...Object.values(more).map((value) => value.toFixed(1))].join(" ");
  const what = new Map<string, number>();
  for (const { kind, extras } of asks) {
    const text = extras.length === 0 ? kind : `${kind} (${extras.join(", ")})`;
    what.set(text, (what.get(text) ?? 0) + 1);
  }
  const list = [...what].map(([text, count]) => `${count} × ${text}`).join("; ");
  return `#${index} ${http} alpn ${alpn ?? "none"}, ${bytes.length} bytes in ${cuts.length + 1} writes, ends at ${when} by ${end}: ${list}`;
}
