import { expect, it, onTestFinished } from "vitest";
import { generator } from "./content.ts";
import { Victim } from "./victim.ts";

const TRIALS = Number(process.env["CAIRN_KILLS"] ?? 200);
const TRIALS_PER_FOLDER = 25;
const READY_MS_MAX = 2_000;
/** What must have been acknowledged before the server is killed. */
const FIRST = ["envelope", "file", "envelope", "grant"] as const;

it("D2, E6 R1 what was acknowledged survives kill -9 at any moment, and nothing is there by half", async () => {
  const seed = Number(process.env["CAIRN_SEED"] ?? Date.now() % 1_000_000);
  const random = generator(seed);
  const readyMs: number[] = [];
  const total = { envelopes: 0, points: 0, lines: 0, files: 0, grants: 0 };
  const started = performance.now();
  let victim = new Victim();
  onTestFinished(() => victim.remove());
  const count = () => {
    const { envelopes, files, grants } = victim.acknowledged;
    total.envelopes += envelopes;
    total.files += files;
    total.grants += grants;
    total.points += victim.points;
    total.lines += victim.lines;
  };
  for (let trial = 0; trial < TRIALS; trial++) {
    if (trial % TRIALS_PER_FOLDER === 0 && trial > 0) {
      count();
      await victim.remove();
      victim = new Victim();
    }
    try {
      if (trial % 10 === 9) await victim.killWhileStarting(random() * 500);
      const clients = await victim.start();
      if (trial % TRIALS_PER_FOLDER === 0) await victim.prepare(clients);
      else await victim.check(clients, trial % 20 === 0);
      readyMs.push(victim.readyMs.at(-1)!);
      const first = FIRST[trial % FIRST.length]!;
      await victim.writeAndKill(5 + random() * 145, { flood: trial % 3 === 2, first });
    } catch (thrown) {
      throw new Error(`trial ${trial} of seed ${seed}`, { cause: thrown });
    }
  }
  await victim.check(await victim.start(), true);
  count();
  const seconds = Math.round((performance.now() - started) / 1_000);
  const slowest = Math.round(Math.max(...readyMs));
  const { envelopes, points, lines, files, grants } = total;
  console.log(
    `${TRIALS} kills in ${seconds} s: ${envelopes} envelopes with ${points} points and ${lines} lines, ${files} files, ${grants} grants; ready after ${slowest} ms at most`,
  );
  expect(slowest).toBeLessThan(READY_MS_MAX);
}, 900_000);
