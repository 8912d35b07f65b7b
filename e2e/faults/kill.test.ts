import { expect, it, onTestFinished } from "vitest";
import { dose, seed, tally } from "../../tools/dose.ts";
import { generator } from "./content.ts";
import { Victim } from "./victim.ts";

/** When the server is killed: after an acknowledgement of that kind, while it folds its log, or while it starts. */
const MOMENTS = ["envelope", "file", "grant", "fold", "start"] as const;
const KILLS = MOMENTS.length * dose(5, 40);
const KILLS_PER_FOLDER = 25;
const THOROUGH_EVERY = 20;
/** In processor time, so that other processes have no influence. */
const READY_CPU_MS_MAX = 5_000;

it("D2, E6, H4 R1 acknowledged writes survive kill -9 at any moment, no envelope is stored in part, and a watcher resumes", async () => {
  const random = generator(seed);
  const total = { envelopes: 0, points: 0, lines: 0, files: 0, grants: 0, resumed: 0 };
  const started = performance.now();
  let readyCpuMs = 0;
  let victim = new Victim();
  onTestFinished(() => victim.remove());
  const count = () => {
    const { envelopes, files, grants } = victim.acknowledged;
    total.envelopes += envelopes;
    total.files += files;
    total.grants += grants;
    total.points += victim.points;
    total.lines += victim.lines;
    total.resumed += victim.resumed;
    readyCpuMs = Math.max(readyCpuMs, ...victim.readyCpuMs);
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const moment = MOMENTS[kill % MOMENTS.length]!;
    if (kill % KILLS_PER_FOLDER === 0 && kill > 0) {
      count();
      await victim.remove();
      victim = new Victim();
    }
    try {
      if (moment === "start") {
        await victim.killWhileStarting(random());
        continue;
      }
      const clients = await victim.start();
      if (kill % KILLS_PER_FOLDER === 0) await victim.prepare(clients);
      else await victim.check(clients, kill % THOROUGH_EVERY === 0);
      const isFold = moment === "fold";
      await victim.writeAndKill(5 + random() * 145, { flood: isFold, first: isFold ? "envelope" : moment });
    } catch (thrown) {
      throw new Error(`kill ${kill} (${moment}) of CAIRN_SEED=${seed}`, { cause: thrown });
    }
  }
  await victim.check(await victim.start(), true);
  count();
  tally("kills", KILLS);
  const seconds = Math.round((performance.now() - started) / 1_000);
  const { envelopes, points, lines, files, grants, resumed } = total;
  console.log(
    `${KILLS} kills in ${seconds} s: ${envelopes} envelopes with ${points} points and ${lines} lines, ${files} files, ${grants} grants; ${resumed} points watched after a restart; ready after ${readyCpuMs} ms of processor time at most`,
  );
  expect(resumed).toBeGreaterThan(0);
  expect(readyCpuMs).toBeLessThan(READY_CPU_MS_MAX);
}, 900_000);
