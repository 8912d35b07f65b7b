import { describe, expect, it } from "vitest";
import { buildCore } from "#store/contract/core-under-test.ts";
import { watchFarBehindContract } from "#store/contract/watch/far-behind.ts";
import { lines, logOf, makeRun, WatchReader, write } from "#store/contract/watch/reader.ts";
import { watchContract } from "#store/contract/watch/watch.ts";
import { keepingChanges, openInMemory, openOnDisk, tamper } from "#store/sqlite/testing/under-test.ts";
import { dose, isLong, tally } from "../tools/dose.ts";

const inMemory = dose(40, 1_000);
const onDisk = dose(5, 50);
// Once with the default limits, and once with little memory and lost wake-ups.
tally("watch schedules", 2 * (inMemory + onDisk));

watchContract("sqlite on disk", () => openOnDisk(), { restores: true, schedules: onDisk, crowds: isLong });

watchContract("sqlite in memory", openInMemory, { restores: false, schedules: inMemory, crowds: true });

describe("followers that are far behind", () => {
  // More than what one of them must be able to read back.
  const keepsFew = keepingChanges(600);
  describe("on sqlite on disk", () => watchFarBehindContract(() => openOnDisk(1, keepsFew)));
  describe("on sqlite in memory", () => watchFarBehindContract(() => openInMemory(keepsFew)));
});

describe("watching a damaged log", () => {
  it("H5 D9 reports missing lines, continues after them, and shows none of them", async () => {
    const under = await openOnDisk();
    const core = await buildCore(under);
    const id = await makeRun(core);
    for (const text of ["zero", "one", "two"]) await write(core, id, { log: lines(text) });
    tamper(under.data, (db) => db.exec("UPDATE line_row SET body = zeroblob(length(body)) WHERE first = 1"));
    const reader = await WatchReader.open(core, { logs: [logOf(id, 0)] });
    expect(await reader.next("lines")).toMatchObject({ lines: [{ number: 0, text: "zero" }], next: 1 });
    expect(await reader.next("behind")).toMatchObject({ what: ["logs"] });
    expect(await reader.next("lines")).toMatchObject({ lines: [{ number: 2, text: "two" }], next: 3 });
    await write(core, id, { log: lines("three") });
    expect(await reader.next("lines")).toMatchObject({ lines: [{ number: 3, text: "three" }], next: 4 });
    await reader.leave();
    await under.discard();
  });
});
