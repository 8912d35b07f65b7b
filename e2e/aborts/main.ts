/**
 * The abort fuzzer for any time: `node e2e/aborts/main.ts --minutes 10 [--seed 7] [--server memory]`. With
 * `--attempts 12,90` only those attempts of the seed are repeated. Exits with 1 and the seed when a server died or logged an error.
 */
import { parseArgs } from "node:util";
import { Fuzzer } from "./fuzzer.ts";
import { besiege } from "./siege.ts";
import { Victim, VICTIMS } from "./victim.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    server: { type: "string", multiple: true, default: [...VICTIMS] },
    attempts: { type: "string" },
  },
});
const unknown = values.server.find((name) => !VICTIMS.some((known) => known === name));
if (unknown !== undefined) throw new Error(`unknown server ${unknown}; there are ${VICTIMS.join(", ")}`);
const names = VICTIMS.filter((name) => values.server.includes(name));
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const only = values.attempts?.split(",").map(Number);
/** Of each server: a quarter to warm it up, the rest to measure. */
const ms = (Number(values.minutes) * 60_000) / names.length;

console.log(`CAIRN_SEED=${seed}`);
const counts = new Map<string, number>();
for (const name of names) {
  const victim = await Victim.start(name);
  const fuzzer = new Fuzzer(victim, seed);
  const startedMs = performance.now();
  try {
    const { before, after } = await besiege(victim, fuzzer, {
      ms: ms / 4,
      attemptsMax: Infinity,
      ...(only !== undefined && { only }),
    });
    const mb = (after.rssBytes - before.rssBytes) >> 20;
    console.log(`${name}: unharmed, ${mb} MB and ${after.handles - before.handles} open files more`);
  } catch (thrown) {
    console.error(`${name}: ${(thrown as Error).message}`);
    process.exitCode = 1;
  } finally {
    await victim.stop();
  }
  const perSecond = fuzzer.attempts / ((performance.now() - startedMs) / 1000);
  console.log(`${name}: ${fuzzer.attempts} connections, ${perSecond.toFixed(0)} per second`);
  for (const [choice, count] of fuzzer.counts) counts.set(choice, (counts.get(choice) ?? 0) + count);
}
console.log("\nconnections with");
for (const [choice, count] of [...counts].sort(([a], [b]) => a.localeCompare(b))) {
  console.log(`${String(count).padStart(8)}  ${choice}`);
}
if (process.exitCode === 1) console.error(`\nfailed with CAIRN_SEED=${seed}`);
