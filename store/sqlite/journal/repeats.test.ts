import { afterEach, beforeEach, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { Db } from "../file/db.ts";
import { migrate } from "../file/schema.ts";
import { Repeats } from "./repeats.ts";

const REPEAT_US = limits.repeatMs * 1000;
let db: Db;
let repeats: Repeats;

beforeEach(() => {
  db = Db.open(":memory:");
  migrate(db, ":memory:");
  db.exec(
    `INSERT INTO namespace (id, path, description, created_us) VALUES (1, 'lab', '', 0);
     INSERT INTO run (key, id, namespace, name, status, created_us, updated_us, aliases, tags, params, notes)
       VALUES (1, 'a', 1, '', 'running', 0, 0, '[]', '[]', '{}', ''), (2, 'b', 1, '', 'running', 0, 0, '[]', '[]', '{}', '')`,
  );
  repeats = new Repeats(db);
});
afterEach(() => db.close());

function hash(n: number): Uint8Array {
  return Uint8Array.from(Buffer.from(String(n).padStart(16, "0")));
}

function count(run: number): number {
  return Number(db.find("SELECT count(*) FROM repeat WHERE run = ?", run)![0]);
}

it("E16 removes expired bodies with every new one, of any run and a bounded part at a time", () => {
  const old = 100;
  for (let i = 0; i < old; i++) repeats.add(1, hash(i), i);
  let left = count(1);
  expect(left).toBe(old);
  for (let i = 0; left > 0; i++) {
    repeats.add(2, hash(i), old + REPEAT_US);
    const removed = left - count(1);
    expect(removed).toBeGreaterThan(0);
    expect(removed).toBeLessThan(10);
    left -= removed;
  }
  repeats.add(1, hash(0), old + REPEAT_US);
  expect([count(1), repeats.has(1, hash(0), old + REPEAT_US)]).toEqual([1, true]);
});

it("E16 keeps at most the limit for a run, and nothing of a purged one", () => {
  const most = limits.repeatsPerRunMax;
  repeats.add(2, hash(0), 0);
  for (let i = 0; i < most + 5; i++) repeats.add(1, hash(i), 0);
  expect([count(1), count(2)]).toEqual([most, 1]);
  expect([4, 5, most + 4].map((i) => repeats.has(1, hash(i), 1))).toEqual([false, true, true]);
  db.run("DELETE FROM run WHERE key = 1");
  expect([count(1), count(2)]).toEqual([0, 1]);
});
