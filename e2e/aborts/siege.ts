import { Fuzzer, type FuzzBounds } from "./fuzzer.ts";
import { until, type Victim, type Vitals } from "./victim.ts";

const HANDLES_MORE_MAX = 8;
const RSS_MORE_BYTES_MAX = 64 << 20;
/** A leak per connection grows with every round; memory that a server allocates once does not. */
const ROUNDS_MAX = 4;
/** How long a server has after a round to free its memory and connections. */
const SETTLE_MS = 10_000;
/** The longest time, and the most connections, between two checks that the server still answers. */
const STRETCH_MS = 5_000;
const STRETCH_ATTEMPTS = 25_000;

export interface SiegeResult {
  before: Vitals;
  after: Vitals;
}

/**
 * Fuzzes one server: so much to warm it up, three times as much after that. Throws when the server dies, complains, no
 * longer answers, or keeps more after every round than it had before.
 */
export async function besiege(victim: Victim, fuzzer: Fuzzer, warmUp: FuzzBounds): Promise<SiegeResult> {
  const fuzz = async (times: number): Promise<void> => {
    let { ms, attemptsMax } = { ms: times * warmUp.ms, attemptsMax: times * warmUp.attemptsMax };
    while (ms > 0 && attemptsMax > 0) {
      const [startMs, first] = [performance.now(), fuzzer.attempts];
      await fuzzer.run({
        ...warmUp,
        ms: Math.min(ms, STRETCH_MS),
        attemptsMax: Math.min(attemptsMax, STRETCH_ATTEMPTS),
      });
      if (victim.isHarmed) throw new Error("the server is harmed");
      await victim.greet();
      ms -= performance.now() - startMs;
      attemptsMax -= fuzzer.attempts - first;
    }
  };
  try {
    await fuzz(1);
    let before = await victim.quietVitals();
    for (let round = 1; ; round++) {
      await fuzz(3);
      let after = before;
      const settled = until(SETTLE_MS, async () => {
        after = await victim.quietVitals();
        return objectionTo(before, after);
      });
      const objection = await settled.catch((thrown: unknown) => thrown as Error);
      if (victim.isHarmed) throw new Error("the server is harmed");
      if (objection === undefined) return { before, after };
      if (round === ROUNDS_MAX) throw objection;
      before = after;
    }
  } catch (thrown) {
    // For a client, a server that died is only a refused connection.
    const failure = (await victim.complaint()) ?? (thrown as Error).message;
    throw new Error(fuzzer.report(failure), { cause: thrown });
  }
}

function objectionTo(before: Vitals, after: Vitals): string | undefined {
  if (after.handles > before.handles + HANDLES_MORE_MAX) {
    return `the server had ${before.handles} open files and now has ${after.handles}`;
  }
  const moreBytes = after.rssBytes - before.rssBytes;
  if (moreBytes > RSS_MORE_BYTES_MAX) return `the server's memory grew by ${moreBytes >> 20} MB`;
  return undefined;
}
