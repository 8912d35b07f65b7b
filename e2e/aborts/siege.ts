import { Fuzzer } from "./fuzzer.ts";
import { until, type Victim, type Vitals } from "./victim.ts";

const HANDLES_MORE_MAX = 8;
const RSS_MORE_BYTES_MAX = 64 << 20;
const SETTLE_MS = 30_000;
/** The share of the time after which memory is measured for the first time. */
const WARM_UP = 0.25;
const ATTEMPTS_PER_SECOND_MAX = 5_000;
/** The longest time between two checks that the server still answers. */
const ROUND_MS = 5_000;

export interface SiegeResult {
  before: Vitals;
  after: Vitals;
}

/**
 * Fuzzes one server, a quarter of the time to warm it up. Throws when the server dies, complains, no longer answers, or keeps
 * more than it had after the warm-up.
 */
export async function besiege(
  victim: Victim,
  fuzzer: Fuzzer,
  seconds: number,
  only?: readonly number[],
): Promise<SiegeResult> {
  const fuzz = async (ms: number): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs -= ROUND_MS) {
      const roundMs = Math.min(leftMs, ROUND_MS);
      const attemptsMax = Math.ceil((roundMs / 1000) * ATTEMPTS_PER_SECOND_MAX);
      await fuzzer.run({ ms: roundMs, attemptsMax, ...(only !== undefined && { only }) });
      if (victim.isHarmed) throw new Error("the server is harmed");
      await victim.greet();
    }
  };
  try {
    await fuzz(seconds * 1000 * WARM_UP);
    const before = await victim.quietVitals();
    await fuzz(seconds * 1000 * (1 - WARM_UP));
    let after = before;
    await until(SETTLE_MS, async () => {
      after = await victim.quietVitals();
      return objectionTo(before, after);
    });
    if (victim.isHarmed) throw new Error("the server is harmed");
    return { before, after };
  } catch (thrown) {
    // To who asks it, a server that died is a connection refused, which says little.
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
