/** Runs under the shim: makes every call once or more, triggers every kind of fault, and prints the calls seen. */
import {
  fsyncSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeSync,
  openSync,
} from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { shim, type FaultKind, type FaultStatus } from "./shim.ts";

export interface ShimReport {
  /** What node:sqlite called for one commit, and what node:fs did. */
  database: FaultStatus;
  files: FaultStatus;
  /** Per kind: how ten writes and syncs of one byte each, alternating, came out, the fault armed at the fifth. */
  outcomes: Record<string, string[]>;
  /** What is in the file after a torn and after a short write of "abcdef", and how many calls that took. */
  torn: [content: string, writes: number];
  short: [content: string, writes: number];
  /** How a write and two syncs came out when the first call to fail was to be a sync. */
  named: string[];
  /** What became of a file outside the directory while everything in it failed. */
  outside: string;
}

const directory = process.argv[2]!;
shim.watch(directory);
const NEVER = 1_000_000;

const db = new DatabaseSync(join(directory, "a.db"));
db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)");
shim.arm("eio", NEVER);
db.exec("INSERT INTO t VALUES (1)");
const database = shim.status();

shim.arm("eio", NEVER);
const file = join(directory, "b");
const handle = await open(file, "w");
const pieces = [Buffer.from("ab"), Buffer.from("cd")];
await handle.write(Buffer.from("ab"));
await handle.write(Buffer.from("ab"), 0, 2, 8);
await handle.writev(pieces);
await handle.writev(pieces, 2);
await handle.datasync();
await handle.sync();
await handle.close();
truncateSync(file, 1);
mkdirSync(join(directory, "c"));
await rename(file, join(directory, "c", "d"));
unlinkSync(join(directory, "c", "d"));
const files = shim.status();

const outcomes: Record<string, string[]> = {};
for (const kind of ["eio", "enospc", "sync", "short", "torn", "die"] satisfies FaultKind[]) {
  const tried = await open(join(directory, kind), "w");
  shim.arm(kind, 5, 1);
  outcomes[kind] = [];
  for (let i = 0; i < 10; i++) {
    const act = i % 2 === 0 ? () => tried.write(Buffer.from("x")) : () => tried.sync();
    const said = await act().then(
      (done) => (done === undefined ? "ok" : `wrote ${done.bytesWritten}`),
      (thrown: unknown) => (thrown as { code: string }).code,
    );
    outcomes[kind].push(said);
  }
  shim.off();
  await tried.close();
}

const namedFile = openSync(join(directory, "named"), "w");
shim.arm("eio", 1, 1, "fsync");
const named = [() => writeSync(namedFile, "x"), () => fsyncSync(namedFile), () => fsyncSync(namedFile)].map(
  (act) => {
    try {
      act();
      return "ok";
    } catch (thrown) {
      return (thrown as { code: string }).code;
    }
  },
);
shim.off();

const halves = (kind: FaultKind): [string, number] => {
  const path = join(directory, `half-${kind}`);
  const fd = openSync(path, "w");
  shim.arm(kind, 1, 1);
  try {
    writeSync(fd, "abcdef");
  } catch {
    // Torn writes fail.
  }
  const { calls } = shim.off();
  return [readFileSync(path, "utf8"), calls["write"]!];
};
const torn = halves("torn");
const short = halves("short");

shim.arm("die", 1, 1);
let outside = "ok";
try {
  const path = `${directory}-beside`;
  writeSync(openSync(path, "w"), "x");
  unlinkSync(path);
  // Nothing was hit so far; the first call inside is.
  statSync(directory);
  openSync(join(directory, "e"), "w");
  outside = "the call inside did not fail";
} catch (thrown) {
  const { path } = thrown as { path?: string };
  if (path !== join(directory, "e")) outside = String(thrown);
}
shim.off();
process.stdout.write(
  JSON.stringify({ database, files, outcomes, torn, short, named, outside } satisfies ShimReport),
);
