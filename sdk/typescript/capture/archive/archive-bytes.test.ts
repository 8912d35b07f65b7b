import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { archiveWorkdir, type Archive } from "./archive.ts";
import { plant, type Tree, unpack } from "../testing/archives.ts";

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("the bytes of an archive", () => {
  it("C32 are the same for the same files", async () => {
    const files = { "b/c": "2", a: "1", "b.txt": "3", B: "4" };
    const [one, two] = [await plant(files), await plant(Object.fromEntries(Object.entries(files).reverse()))];
    utimesSync(join(two.dir, "a"), new Date(0), new Date(1e12));
    chmodSync(join(two.dir, "a"), 0o640);
    await archiveWorkdir(one.dir, one.target);
    await archiveWorkdir(two.dir, two.target);
    expect(digest(one.target)).toBe(digest(two.target));
    writeFileSync(join(two.dir, "a"), "other");
    await archiveWorkdir(two.dir, two.target);
    expect(digest(one.target)).not.toBe(digest(two.target));
  });

  it("C32 are whole while files grow, shrink, vanish and turn into links", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
    const { dir, target } = await plant(Object.fromEntries(names.map((name) => [name, "x".repeat(200_000)])));
    let turn = 0;
    const timer = setInterval(() => {
      for (let count = 0; count < 3; count++) disturb(join(dir, names[(turn * 7) % names.length]!), turn++);
    }, 1);
    try {
      for (let round = 0; round < 5; round++) {
        const files = await unpack(await archiveWorkdir(dir, target));
        for (const content of Object.values(files)) expect(content).not.toContain("planted");
      }
    } finally {
      clearInterval(timer);
    }
    expect(turn).toBeGreaterThan(30);
  });

  /** Most attempts succeed; on a busy machine the change may come too early or too late. */
  const RACE = { timeout: 55_000 };

  /** Archives repeatedly, and changes the directory as soon as an archive is begun. */
  async function whileWriting({ dir, target }: Tree, change: () => void): Promise<Archive> {
    const working = archiveWorkdir(dir, target);
    const watch = setInterval(() => {
      if (!readdirSync(dirname(target)).some((name) => name.endsWith(".part"))) return;
      clearInterval(watch);
      change();
    }, 1);
    return working.finally(() => clearInterval(watch));
  }

  it("C32 are filled up where a file shrinks while it is read", async () => {
    const tree = await plant({});
    const file = join(tree.dir, "large");
    const attempt = async () => {
      writeFileSync(file, Buffer.alloc(16 << 20, "x"));
      const archive = await whileWriting(tree, () => truncateSync(file, 100));
      const content = (await unpack(archive))["large"]!;
      expect(content).toMatch(/^x+\0*$/);
      return archive.left.map(({ why }) => why).join();
    };
    await expect.poll(attempt, RACE).toBe("it shrank while it was read; zeros follow");
  });

  it("C30 hold nothing from outside when a file turns into a link before it is read", async () => {
    const tree = await plant({ a: "x".repeat(16 << 20) });
    const [file, outside] = [join(tree.dir, "z"), join(tree.dir, "..", "outside.txt")];
    writeFileSync(outside, "planted");
    const attempt = async () => {
      rmSync(file, { force: true });
      writeFileSync(file, "harmless");
      const archive = await whileWriting(tree, () => {
        rmSync(file);
        symlinkSync(outside, file);
      });
      expect((await unpack(archive))["z"] ?? "").not.toContain("planted");
      return archive.left;
    };
    await expect.poll(attempt, RACE).toEqual([{ path: "z", why: "it cannot be read" }]);
  });
});

function disturb(file: string, turn: number): void {
  const outside = join(dirname(file), "..", "outside.txt");
  const kinds = [
    () => appendFileSync(file, "y".repeat(1000)),
    () => truncateSync(file, 10),
    () => rmSync(file, { force: true }),
    () => writeFileSync(file, "z".repeat(100_000)),
    () => {
      rmSync(file, { force: true });
      writeFileSync(outside, "planted");
      symlinkSync(outside, file);
    },
    () => {
      rmSync(file, { force: true });
      writeFileSync(file, "x".repeat(200_000));
    },
  ];
  try {
    kinds[turn % kinds.length]!();
  } catch {
    // It does not exist at the moment.
  }
}
