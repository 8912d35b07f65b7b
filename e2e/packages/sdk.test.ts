import { spawn } from "node:child_process";
import { once } from "node:events";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build, type Rolldown } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import packageJson from "../../package.json" with { type: "json" };
import { oldNode } from "../../tools/needs.ts";
import { ROOT } from "../../tools/sources.ts";
import { makeOutside, mustRun, npmInstall, outsideEnv, tarball, type Where } from "./installed.ts";
import { readBlocks } from "./readme.ts";

const NODES = [
  { node: process.execPath, version: process.versions.node },
  { node: oldNode, version: "22.12.0" },
];
const COMPILER = join(ROOT, "node_modules", ".bin", "tsc");

/** `cairn-sdk` and the types of Node, in an empty folder. */
let where: Where;
let server: ChildServer | undefined;
let url: string;
let cairn: Cairn;

const cwd = makeOutside(afterAll);

afterAll(async () => {
  server?.child.kill();
  await server?.exited;
});

beforeAll(async () => {
  server = await startChild(["--data", "memory:"]);
  ({ url } = server);
  cairn = new Cairn({ url });
  where = { cwd, env: outsideEnv(cwd, { CAIRN_SERVER: url }) };
  await npmInstall(where, tarball("cairn-sdk"), `@types/node@${packageJson.devDependencies["@types/node"]}`);
});

/** Writes a file beside the installed package and returns its path. */
function write(name: string, code: string): string {
  const path = join(where.cwd, name);
  writeFileSync(path, code);
  return path;
}

/** A name of its own for everything that a test makes. */
let nextId = 0;

function compile(files: string[], ...options: string[]): Promise<string> {
  return mustRun(
    [COMPILER, "--ignoreConfig", "--strict", "--target", "es2024", "--types", "node", ...options, ...files],
    where,
  );
}

describe.each(NODES)("cairn-sdk, installed from its file, on Node $version", ({ node, version }) => {
  it("C200 records a run with files, media, console lines, provenance and the archived folder", async () => {
    const name = `whole-${version}`;
    const folder = join(where.cwd, `job-${version}`);
    mkdirSync(folder);
    const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "ignore" });
    git("init", "-q");
    writeFileSync(join(folder, "data.bin"), Buffer.alloc(100_000, "x"));
    writeFileSync(
      join(folder, "train.mjs"),
      `import { init } from "cairn-sdk";
const run = await init({ namespace: "sdk", name: "${name}", params: { lr: 0.1, depth: 3n }, capture: { archive: true } });
console.log("one line of the job");
for (let step = 0; step < 2_000; step++) run.log({ loss: 1 / (step + 1), ok: step % 2 === 0, n: BigInt(step) }, { step });
run.artifact("data.bin", "data.bin");
run.media("picture", new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]), { mediaType: "image/png" });
const report = await run.finish();
if (!report.delivered || report.refused + report.lost > 0) throw new Error(JSON.stringify(report));
`,
    );
    git("add", ".");
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first");
    const child = spawn(node, ["train.mjs"], {
      cwd: folder,
      env: where.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    expect([await once(child, "close"), stderr]).toEqual([[0, null], ""]);
    const { runs } = await cairn.runs.searchRuns({ query: `name = "${name}"`, pageSize: 2 });
    const ref = { id: runs[0]!.id };
    const run = await cairn.runs.getRun({ run: ref });
    expect(run.provenance!.code!.commit).toMatch(/^[0-9a-f]{40}$/);
    const { series } = await cairn.metrics.listSeries({ run: ref });
    const counts = Object.fromEntries(series.map(({ key, summary }) => [key, Number(summary!.count)]));
    expect(counts).toMatchObject({ loss: 2_000, ok: 2_000, n: 2_000 });
    const { artifacts } = await cairn.artifacts.listArtifacts({ run: ref });
    const { archive } = run.provenance!.code!;
    expect(archive).not.toBe("");
    expect(artifacts.map((one) => one.name)).toEqual(expect.arrayContaining(["data.bin", archive]));
  });

  it("C200 delivers what is left when the program calls process.exit()", async () => {
    const name = `exits-${version}`;
    write(
      "exits.mjs",
      `import { init } from "cairn-sdk";
const run = await init({ namespace: "sdk", name: "${name}" });
run.log({ loss: 1 });
process.exit(3);
`,
    );
    const child = spawn(node, ["exits.mjs"], { ...where, stdio: "ignore" });
    expect(await once(child, "exit")).toEqual([3, null]);
    const { runs } = await cairn.runs.searchRuns({
      query: `name = "${name}" and status = "failed"`,
      columns: ["metrics.loss.last"],
    });
    expect(runs).toHaveLength(1);
  });

  it("C203 the programs of its README run", async () => {
    const blocks = readBlocks(join(where.cwd, "node_modules", "cairn-sdk", "README.md"));
    const programs = blocks.filter(({ code }) => code.includes("init("));
    expect(programs).toHaveLength(2);
    for (const { language, code } of programs) {
      const id = nextId++;
      if (language === "ts") {
        await compile([write(`readme-${id}.mts`, code)], "--module", "nodenext");
      } else write(`readme-${id}.mjs`, code);
      expect(await mustRun([node, `readme-${id}.mjs`], where)).toMatch(language === "ts" ? /^true \[/ : /^$/);
    }
  });
});

describe("cairn-sdk, installed from its file", () => {
  const program = `import { Cairn, findServer, init, sync, watch, type FinishReport, type InitOptions } from "cairn-sdk";
import { Cairn as Same } from "cairn-sdk/browser";
import { CairnTracker } from "cairn-sdk/tracker";
import { trackerConformance } from "cairn-sdk/tracker/conformance";
const options: InitOptions = { namespace: "a", params: { lr: 1 } };
export async function main(): Promise<string> {
  const run = await init(options);
  run.log({ loss: 0.1 }, { step: 1 });
  const report: FinishReport = await run.finish();
  const cairn: Same = new Cairn(await findServer());
  const { runs } = await cairn.runs.searchRuns({ query: "loss < 1" });
  // @ts-expect-error a run has no such method
  run.nothing();
  return \`\${report.delivered} \${runs[0]!.name} \${sync.name} \${watch.name} \${CairnTracker.name} \${trackerConformance.name}\`;
}
`;

  it.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])("C201 has types for modules of %s, resolved as %s does", async (module, resolution) => {
    const file = write(`types-${module}.mts`, program);
    await compile([file], "--noEmit", "--module", module, "--moduleResolution", resolution);
  });

  it.each(["cairn-sdk", "cairn-sdk/browser"])(
    "C202 %s is bundled for a browser without anything of Node",
    async (specifier) => {
      const entry = write(`page-${nextId++}.js`, `export { Cairn, Failure, watch } from "${specifier}";`);
      const built = (await build({
        configFile: false,
        root: where.cwd,
        logLevel: "silent",
        build: { write: false, minify: false, lib: { entry, formats: ["iife"], name: "CairnSdk" } },
      })) as Rolldown.RolldownOutput[];
      const [chunk] = built[0]!.output;
      expect(chunk.code.match(/["']node:|__vite-browser-external/)?.[0]).toBeUndefined();
      const page = createContext({
        URL,
        Headers,
        TextEncoder,
        TextDecoder,
        AbortController,
        AbortSignal,
        setTimeout,
      });
      expect(runInContext(`${chunk.code}; new CairnSdk.Cairn({ url: "http://x/" }).url`, page)).toBe(
        "http://x",
      );
    },
  );

  it("C202 the programs of its README for a browser have the right types", async () => {
    const blocks = readBlocks(join(where.cwd, "node_modules", "cairn-sdk", "README.md"));
    const page = blocks.find(({ code }) => code.includes("cairn-sdk/browser"));
    await compile(
      [write("browser.mts", page!.code)],
      "--noEmit",
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--lib",
      "es2024,dom",
    );
  });

  it("C204 has JavaScript and types only, and depends on exact versions", () => {
    const folder = join(where.cwd, "node_modules", "cairn-sdk");
    const names = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
    expect(names.filter((name) => /(?<!\.d)\.[cm]?ts$|\.test\.|\.bench\./.test(name))).toEqual([]);
    const { dependencies, version } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    ) as typeof packageJson;
    expect(version).toBe(packageJson.version);
    for (const [name, wanted] of Object.entries(dependencies)) {
      expect(packageJson.dependencies).toHaveProperty([name], wanted);
    }
  });
});
