import { afterAll, beforeAll, expect, it } from "vitest";
import { CANCEL, END_HEADERS, field, FRAME, frame, PREFACE, uint32 } from "#server/testing/frames.ts";
import { dose, seed, tally } from "../../tools/dose.ts";
import type { Attempt, End, Moment } from "./attempt.ts";
import { Fuzzer } from "./fuzzer.ts";
import { perform } from "./perform.ts";
import { besiege } from "./siege.ts";
import { Victim, type VictimName } from "./victim.ts";

/** Per server, of which there are three; a quarter of it is to warm it up. */
const FUZZ_MS = dose(20_000, 60_000);
/** To start, to become quiet and to be measured. */
const AROUND_MS = 900_000;
const NO_ERROR = 0;
const SEARCH = "/cairn.v1.RunService/SearchRuns";
const WRONG = ["authorization", `Bearer cairn_${"w".repeat(40)}`] as const;

/** A connection that is not chosen by the seed. */
function attempt(http: Attempt["http"], bytes: Buffer, moment: Moment, end: End): Attempt {
  const alpn = http === "http2" ? "h2" : "http/1.1";
  return { index: 0, http, alpn, asks: [], bytes, farewell: Buffer.alloc(0), cuts: [], moment, end };
}

async function expectUnharmed(server: Victim): Promise<void> {
  expect(await server.complaint()).toBeUndefined();
  await server.quietVitals();
  expect(await server.complaint()).toBeUndefined();
}

/** What a server must survive; each kind of server has a test file, so that they run side by side. */
export function abortTests(name: VictimName): void {
  let server: Victim;
  beforeAll(async () => {
    server = await Victim.start(name);
  });
  afterAll(() => server.stop());

  it("S25 survives requests that are pipelined, refused and left at once", async () => {
    const lines = [
      `POST ${SEARCH} HTTP/1.1`,
      "host: localhost",
      "content-type: application/json",
      WRONG.join(": "),
      "content-length: 2",
    ];
    const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n{}`.repeat(3));
    for (const end of ["destroy", "half-close", "reset"] as const) {
      for (const at of ["same tick", "all written"] as const) {
        for (let i = 0; i < 10; i++) {
          await perform(attempt("http1", bytes, { at }, end), server.port, server.isTls);
          expect(await server.complaint()).toBeUndefined();
        }
      }
    }
    await expectUnharmed(server);
  });

  it("S25 survives streams that expect a 100 and are gone before it", async () => {
    const scheme = server.isTls ? "https" : "http";
    const fields = [
      [":method", "POST"],
      [":scheme", scheme],
      [":path", SEARCH],
      [":authority", "localhost"],
      ["content-type", "application/json"],
      ["expect", "100-continue"],
    ] as const;
    const block = Buffer.concat(fields.map(([key, value]) => field(key, value)));
    const streams = [1, 3, 5, 7];
    const heads = streams.map((stream) => frame(FRAME.headers, END_HEADERS, stream, block));
    const begun = Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0), ...heads]);
    // What Node's own client sends when it is destroyed: resets with no error, and with no word on the last stream.
    const endWith = (code: number): Buffer =>
      Buffer.concat([
        begun,
        ...streams.slice(1).map((stream) => frame(FRAME.rstStream, 0, stream, uint32(code))),
        frame(FRAME.goaway, 0, 0, Buffer.concat([uint32(0), uint32(NO_ERROR)])),
      ]);
    const shapes = [endWith(NO_ERROR), begun, endWith(CANCEL)];
    for (let i = 0; i < 60; i++) {
      const moment = { at: "delay", ms: (i % 13) / 4 } as const;
      const end = i % 2 === 0 ? "reset" : "destroy";
      await perform(attempt("http2", shapes[i % 3]!, moment, end), server.port, server.isTls);
      expect(await server.complaint()).toBeUndefined();
    }
    await expectUnharmed(server);
  });

  it(
    "S25 survives connections that end at any moment, and leaks nothing of them",
    async () => {
      const fuzzer = new Fuzzer(server, seed);
      const { before, after } = await besiege(server, fuzzer, {
        ms: FUZZ_MS / 4,
        attemptsMax: Infinity,
      });
      tally("aborted connections", fuzzer.attempts);
      const [rssBefore, rssAfter] = [before, after].map(({ rssBytes }) => rssBytes >> 20);
      console.log(
        `${name}: ${fuzzer.attempts} connections; ${rssBefore} to ${rssAfter} MB, ${before.handles} to ${after.handles} open files`,
      );
      expect(fuzzer.attempts).toBeGreaterThan(0);
    },
    AROUND_MS,
  );
}
