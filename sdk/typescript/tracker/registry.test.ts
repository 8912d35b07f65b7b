import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTrackerFactory, registerTracker } from "./registry.ts";

const EXPORTS = (who: string) => `
export const create = (config) => ({ who: ${JSON.stringify(who)}, config });
export class Tracker {}
export const text = "create";
export default create;
`;

describe("finding the factory of a tracker", () => {
  let dir: string;
  let app: string;
  const put = async (path: string, content: string | object) => {
    const file = join(dir, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "cairn-registry-"));
    app = join(dir, "app", "src");
    await put("app/package.json", {
      name: "app",
      dependencies: {
        "tracker-package": "1",
        "@team/tracker": "1",
        missing: "1",
        "../escape": "1",
        broken: "1",
      },
      devDependencies: { "for-tests": "1" },
      "torchx.tracker": { own: "./src/local.mjs:create", "wrong-kind": 7 },
    });
    await put("app/src/local.mjs", EXPORTS("local"));
    await put("app/node_modules/tracker-package/package.json", {
      name: "tracker-package",
      main: "./index.cjs",
      "torchx.tracker": { packaged: "./tracker.mjs:create", cairn: "./tracker.mjs:create" },
    });
    await put("app/node_modules/tracker-package/tracker.mjs", EXPORTS("tracker-package"));
    await put("app/node_modules/tracker-package/index.cjs", "exports.create = () => ({ who: 'commonjs' });");
    await put("node_modules/@team/tracker/package.json", {
      name: "@team/tracker",
      type: "module",
      exports: { ".": { types: "./index.d.ts", import: { node: "./index.js" } }, "./sub": "./sub.js" },
      "torchx.tracker": { scoped: "@team/tracker:create" },
    });
    await put("node_modules/@team/tracker/index.js", EXPORTS("team"));
    await put("node_modules/@team/tracker/sub.js", EXPORTS("team sub"));
    await put("app/node_modules/for-tests/package.json", { "torchx.tracker": { tests: "./t.mjs" } });
    await put("app/node_modules/for-tests/t.mjs", EXPORTS("for tests"));
    await put("app/node_modules/not-listed/package.json", { "torchx.tracker": { hidden: "./t.mjs:create" } });
    await put("app/node_modules/broken/package.json", "{ no json");
    await put("app/escape/t.mjs", EXPORTS("escaped"));
    await put("app/escape/package.json", { "torchx.tracker": { escaped: "./t.mjs:create" } });
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  const whose = async (name: string) => {
    const factory = await findTrackerFactory(name, app);
    return ((await factory("config")) as unknown as { who: string }).who;
  };

  it.each([
    ["own", "local"],
    ["packaged", "tracker-package"],
    ["scoped", "team"],
    ["tests", "for tests"],
    ["./local.mjs:create", "local"],
    ["./local.mjs", "local"],
    ["../src/local.mjs:create", "local"],
    ["tracker-package:create", "commonjs"],
    ["tracker-package/tracker.mjs:create", "tracker-package"],
    ["@team/tracker:create", "team"],
    ["@team/tracker/sub:create", "team sub"],
  ])("X13 finds %s", async (name, who) => {
    expect(await whose(name)).toBe(who);
  });

  it("X13 finds a file by its path and by its URL", async () => {
    const path = join(app, "local.mjs");
    expect(await whose(`${path}:create`)).toBe("local");
    expect(await whose(`${pathToFileURL(path).href}:create`)).toBe("local");
  });

  it("X13 what is registered comes first, then what is built in, then packages", async () => {
    const undo = registerTracker("packaged", () => ({ who: "registered" }) as never);
    expect(await whose("packaged")).toBe("registered");
    undo();
    expect(await whose("packaged")).toBe("tracker-package");
    const { createCairnTracker } = await import("./cairn/cairn-tracker.ts");
    expect(await findTrackerFactory("cairn", app)).toBe(createCairnTracker);
  });

  it.each([
    ["./local.mjs:Tracker", "is a class"],
    ["./local.mjs:text", "not a function"],
    ["./local.mjs:nothing", 'exports no "nothing"'],
    ["./local.mjs:toString", 'exports no "toString"'],
    ["./absent.mjs:create", "cannot be loaded"],
    ["hidden", "cannot be loaded"],
    ["escaped", "cannot be loaded"],
    ["wrong-kind", "cannot be loaded"],
    ["toString", "cannot be loaded"],
    ["@team/tracker/private:create", "cannot be loaded"],
    [":create", "no module is given"],
  ])("X13 refuses %s, and says why", async (name, cause) => {
    await expect(findTrackerFactory(name, app)).rejects.toThrow(cause);
  });
});
