import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "#server/testing/servers.ts";
import type { ShimReport } from "./shim-calls.ts";
import { buildShim } from "./shim.ts";

const CALLS = fileURLToPath(new URL("./shim-calls.ts", import.meta.url));

it("R2 the shim sees every call of node:sqlite and node:fs, and makes those fail that it should", () => {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = buildShim(folder);
  const watched = join(folder, "watched");
  mkdirSync(watched);
  const said = execFileSync(process.execPath, [CALLS, watched], { env, encoding: "utf8" });
  const { database, files, outcomes, torn, short, named, outside } = JSON.parse(said) as ShimReport;
  expect(database.calls["pwrite"]).toBeGreaterThan(0);
  expect(database.calls["fsync"]).toBeGreaterThan(0);
  const { seen, calls } = files;
  expect(Object.keys(calls).filter((call) => calls[call] === 0)).toEqual([]);
  expect(seen).toBe(Object.values(calls).reduce((sum, count) => sum + count, 0));
  const fine = ["wrote 1", "ok", "wrote 1", "ok"];
  const dead = ["EIO", "EIO", "EIO", "EIO", "EIO", "EIO"];
  expect(outcomes).toEqual({
    eio: [...fine, "EIO", "ok", ...fine],
    enospc: [...fine, "ENOSPC", "ok", ...fine],
    sync: [...fine, "wrote 1", "EIO", ...fine],
    short: [...fine, "wrote 1", "ok", ...fine],
    torn: [...fine, ...dead],
    die: [...fine, ...dead],
  });
  expect(torn).toEqual(["abc", 1]);
  // Node itself writes the rest.
  expect(short).toEqual(["abcdef", 2]);
  expect(named).toEqual(["ok", "EIO", "ok"]);
  expect(outside).toBe("ok");
});
