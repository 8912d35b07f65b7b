import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { RunMark } from "#core/ports/run-changes.ts";
import type { SearchRequest } from "#core/ports/run-search.ts";
import { FeedRecorder } from "#store/contract/feed-recorder.ts";
import { ListSearch } from "#store/contract/list-search.ts";
import { searchRequest } from "#store/contract/run-feeder.ts";
import {
  ackOf,
  AUDIT,
  createRun,
  envelope,
  NOW_US,
  numbers,
  type StoresUnderTest,
} from "#store/contract/stores.ts";
import { keepingChanges, openOnDisk } from "#store/sqlite/testing/under-test.ts";
import { dose, seed, tally } from "../tools/dose.ts";
import { generator } from "./faults/content.ts";
import { IndexVictim } from "./index-victim.ts";

/** Where the index is when it is killed: in a scan of everything, in what changed, in writing a snapshot, or far behind. */
const MOMENTS = ["scan", "parts", "snapshot", "behind"] as const;
const KILLS = MOMENTS.length * dose(2, 60);
const TIMEOUT_MS = dose(60_000, 900_000);
/** The many take several parts of a scan. */
const RUNS = dose(300, 2_100);
const CHANGES_KEPT = 4_000;
/** More series than one part of changes has, or two parts of a scan. */
const WIDE_RUNS = 8;
const WIDE_SERIES = 3_000;
/** Nothing is written to these runs, which go into the trash with their namespace and come out of it. */
const RESTING = "resting/place";
const RESTING_RUNS = 20;
/** A snapshot is written after so many. */
const CHANGES_MIN = 1_000;

const METRICS: SearchRequest["metrics"] = [
  { key: "loss", stat: "last" },
  { key: "loss", stat: "min" },
];

/** A store whose runs change at random. */
class World {
  readonly under: StoresUnderTest;
  /** They come and go. */
  readonly #ids: string[] = [];
  /** They stay. */
  readonly #wide: string[] = [];
  readonly #namespaces = ["a", "b", "c/d"];
  readonly #random: () => number;
  #steps = 0;

  constructor(under: StoresUnderTest, random: () => number) {
    this.under = under;
    this.#random = random;
  }

  upTo(max: number): number {
    return Math.floor(this.#random() * max);
  }

  async prepare(): Promise<void> {
    for (let i = 0; i < WIDE_RUNS; i++) this.#wide.push(await createRun(this.under.runs));
    for (let i = 0; i < RESTING_RUNS; i++) await createRun(this.under.runs, { namespace: RESTING });
    await this.createRuns(RUNS);
    await this.log(500);
    await this.logWide();
  }

  async createRuns(count: number): Promise<void> {
    const created = Array.from({ length: count }, (_, i) =>
      createRun(this.under.runs, {
        namespace: this.#namespaces[i % this.#namespaces.length]!,
        name: `run ${i % 40}`,
        params: new Map([["x", String(i % 17)]]),
        tags: new Map([["group", String(i % 5)]]),
      }),
    );
    this.#ids.push(...(await Promise.all(created)));
  }

  /** So many envelopes of single points, of one run or of random ones. */
  async log(count: number, id?: string): Promise<void> {
    const envelopes = Array.from({ length: count }, () =>
      envelope(id ?? this.#any(), 0, { series: [numbers("loss", [this.upTo(1_000)], this.#steps++)] }),
    );
    for (const outcome of await this.under.journal.append(envelopes, NOW_US)) ackOf(outcome);
  }

  /** One more point of very many series. */
  async logWide(): Promise<void> {
    this.#steps++;
    for (const id of this.#wide) {
      const series = Array.from({ length: WIDE_SERIES }, (_, i) => numbers(`wide ${i}`, [i], this.#steps));
      ackOf((await this.under.journal.append([envelope(id, 0, { series })], NOW_US))[0]);
    }
  }

  async change(): Promise<void> {
    const { runs } = this.under;
    await this.createRuns(this.upTo(5));
    await this.log(20 + this.upTo(100));
    for (let i = 0; i < 10; i++) {
      const tags = new Map([["group", String(this.upTo(5))]]);
      await runs.updateRun(this.#any(), { tags, name: `renamed ${this.upTo(40)}` }, NOW_US + this.#steps++);
    }
    for (let i = this.upTo(4); i > 0; i--) {
      const [id] = this.#ids.splice(this.upTo(this.#ids.length), 1);
      await runs.setDeleted(id!, NOW_US, AUDIT);
      if (i % 2 === 0) await runs.purgeRun(id!, AUDIT);
    }
    if (this.upTo(2) === 0) await this.moveNamespaces();
    await this.under.namespaces.trashNamespace(RESTING, this.upTo(2) === 0 ? NOW_US : undefined, AUDIT);
    if (this.upTo(5) === 0) await this.under.settle();
  }

  /** Two of them change places. */
  async moveNamespaces(): Promise<void> {
    const move = async (from: string, to: string) => {
      const { position } = await this.under.access.loadAccess();
      await this.under.namespaces.moveNamespace(from, { to, accessAt: position }, NOW_US, AUDIT);
    };
    const [one, two] = [this.#namespaces[this.upTo(2)]!, this.#namespaces[2]!];
    await move(one, "aside");
    await move(two, one);
    await move("aside", two);
  }

  /** Until the journal has dropped its present changes; all new ones are of one run. */
  async outrun(): Promise<void> {
    const { journal } = this.under;
    const { position } = await journal.changesSince(undefined, 0);
    do await this.log(CHANGES_MIN, this.#wide[0]);
    while ((await journal.changesSince(undefined, 0)).floor <= position);
  }

  #any(): string {
    return this.#ids[this.upTo(this.#ids.length)]!;
  }
}

/** What a search over everything that is stored finds, with nothing but a list. */
async function expectSame(victim: IndexVictim, world: World): Promise<void> {
  const naive = new ListSearch(new FeedRecorder(world.under.changes));
  const queries = [
    "",
    "order by metrics.loss.last desc, id",
    'namespace under "c" or namespace = "a" order by namespace, id',
    `tags.group = "${world.upTo(5)}" and metrics.loss.min < ${world.upTo(1_000)}`,
    `params.x > ${world.upTo(17)} and name ~ "^renamed" order by name, id`,
  ];
  for (const query of queries) {
    const request = searchRequest(query, { limit: 100_000, metrics: METRICS });
    const [found, expected] = [await victim.search(request), await naive.search(request)];
    expect(found.ids, query).toEqual(expected.ids);
    expect([found.total, found.metrics], query).toEqual([expected.total, expected.metrics]);
  }
  const trashed = searchRequest("", { trashed: true, limit: 100_000 });
  expect((await victim.search(trashed)).ids).toEqual((await naive.search(trashed)).ids);
}

it(
  "J4, J6, J7: a run index that is killed at any moment restarts with the same content as a new one",
  async () => {
    const under = await openOnDisk(1, keepingChanges(CHANGES_KEPT));
    onTestFinished(() => under.discard());
    const world = new World(under, generator(seed));
    const snapshot = join(under.directory, "run-index.snapshot");
    await world.prepare();
    const seen = { scan: 0, parts: 0, snapshot: 0, behind: 0, goneOn: 0 };
    const killIn = async (
      part: number,
      isMeant: (mark: RunMark | undefined) => boolean,
    ): Promise<boolean> => {
      let parts = 0;
      let killed: Promise<void> | undefined;
      const victim = await IndexVictim.start(under.followRuns, snapshot, (asked, answer) => {
        // Every other time it does not even get the answer.
        if (!isMeant(asked) || (answer === undefined) !== (part % 2 === 0)) return;
        if (parts++ === part >> 1) killed = victim.kill();
      });
      await victim.search(searchRequest("")).catch(() => undefined);
      await (killed ?? victim.kill());
      return killed !== undefined;
    };
    /** As it should be, with the snapshot of that. */
    const comeBack = async (): Promise<{ hadSnapshot: boolean; wasBehind: boolean }> => {
      let hadSnapshot: boolean | undefined;
      let isReset: boolean | undefined;
      const victim = await IndexVictim.start(under.followRuns, snapshot, (asked, answer) => {
        hadSnapshot ??= asked !== undefined;
        if (answer !== undefined) isReset ??= answer.reset;
      });
      try {
        await expectSame(victim, world);
        await victim.finish();
      } finally {
        await victim.kill();
      }
      if (isReset === false) seen.goneOn++;
      return { hadSnapshot: hadSnapshot === true, wasBehind: hadSnapshot === true && isReset === true };
    };
    await comeBack();
    for (let kill = 0; kill < KILLS; kill++) {
      const moment = MOMENTS[kill % MOMENTS.length]!;
      try {
        if (moment === "scan") {
          await rm(snapshot);
          if (await killIn(world.upTo(6), (mark) => mark?.scanned !== undefined)) seen.scan++;
        } else if (moment === "parts") {
          await world.logWide();
          if (await killIn(world.upTo(4), (mark) => mark !== undefined)) seen.parts++;
        } else if (moment === "snapshot") {
          // One that was done before it was killed has written all of it: then another tries.
          let isHalf = false;
          for (let turns = world.upTo(12); !isHalf && turns >= 0; turns--) {
            const victim = await IndexVictim.start(under.followRuns, snapshot);
            await world.log(CHANGES_MIN);
            await victim.search(searchRequest(""));
            isHalf = await victim.killWhileWriting(turns);
          }
          if (isHalf) seen.snapshot++;
        } else {
          // Nothing else says again what the journal forgets.
          await world.change();
          await world.outrun();
        }
        if (moment !== "behind") await world.change();
        const { hadSnapshot, wasBehind } = await comeBack();
        // Also where one was written by half: the one from before is still there.
        if (moment !== "scan") expect(hadSnapshot).toBe(true);
        if (wasBehind && moment === "behind") seen.behind++;
      } catch (thrown) {
        throw new Error(`kill ${kill} (${moment}) of CAIRN_SEED=${seed}`, { cause: thrown });
      }
    }
    tally("kills of the run index", KILLS);
    console.log(`${KILLS} kills of the run index: ${JSON.stringify(seen)}`);
    // Each kind of moment occurred, and each way to restart was used.
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
