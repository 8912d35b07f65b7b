import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isSecretName } from "#sdk/capture/secrets/secret-names.ts";
import { readCorpus, wordsOf, type Form } from "#sdk/capture/testing/corpus.ts";
import { temporaryFolder } from "#sdk/capture/testing/folders.ts";
import { newRepository, type Repository } from "#sdk/capture/testing/repository.ts";
import { Cairn } from "#sdk/client.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { COMPILED } from "./job.ts";

const SDK = JSON.stringify(fileURLToPath(new URL("../../sdk/typescript/index.ts", import.meta.url)));
const corpus = readCorpus();
const forms = (where: Form["where"]) => corpus.filter((form) => form.where === where);
const withSecret = (where: Form["where"]) => forms(where).filter(({ secret }) => secret !== "");

let folder: string;
let server: ChildServer;
let client: Cairn;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", join(folder, "data")]);
  client = new Cairn({ url: server.url });
});

afterAll(async () => {
  // Also when the test that ends it has failed before.
  server.child.kill("SIGKILL");
  await server.exited;
  rmSync(folder, { recursive: true });
});

/** Removed lines in the commit, added ones in the work tree, and files that git does not know. */
async function repositoryOfSecrets(): Promise<Repository> {
  const repository = await newRepository();
  const lines = withSecret("patch").flatMap(({ text }) => text.split("\n"));
  const having = (mark: string) =>
    lines
      .filter((line) => line.startsWith(mark))
      .map((line) => `${line.slice(1)}\n`)
      .join("");
  repository.write("changed.txt", having("-"));
  repository.commit();
  repository.write("changed.txt", having("+"));
  for (const [at, { text }] of withSecret("file").entries()) {
    const name = text.slice(0, text.indexOf("\n"));
    const path = join(repository.dir, `form-${at}`, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.slice(name.length + 1));
  }
  return repository;
}

/** Variables of a job whose names are not those of secrets. */
function environment(): Record<string, string> {
  const pairs = withSecret("environment").map(({ text }) => [
    text.slice(0, text.indexOf("=")),
    text.slice(text.indexOf("=") + 1),
  ]);
  return Object.fromEntries(pairs.filter(([name]) => !isSecretName(name!))) as Record<string, string>;
}

function filesUnder(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe("secrets", () => {
  it("S30 C22, C23, C27, C40: a job that prints, archives, patches and is given the corpus stores none of it", async () => {
    const { dir } = await repositoryOfSecrets();
    const lines = forms("line");
    const listed = join(folder, "lines.json");
    writeFileSync(listed, JSON.stringify(lines.map(({ text }) => text)));
    const script = `
      import { readFileSync } from "node:fs";
      import { init } from ${SDK};
      const run = await init({ namespace: "secrets", capture: { system: false, provenance: { gitTimeoutMs: 60_000 } } });
      for (const text of JSON.parse(readFileSync(process.env.LINES, "utf8"))) console.log(text);
      console.log("a value of the environment: " + process.env.OWN_SECRET);
      run.log({ loss: 1 });
      await new Promise((done) => process.stdin.on("end", done).resume());
      await run.finish();`;
    const words = withSecret("command").flatMap(({ text }) => wordsOf(text));
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, "--", ...words], {
      cwd: dir,
      env: {
        ...environment(),
        ...COMPILED,
        PATH: process.env["PATH"],
        HOME: await temporaryFolder(),
        CAIRN_SERVER: server.url,
        OWN_SECRET: "planted-in-env",
        LINES: listed,
      },
      stdio: ["pipe", "ignore", "inherit"],
      timeout: 120_000,
    });
    const closed = once(child, "close");
    const archive = async () => {
      const { runs } = await client.runs.searchRuns({ namespace: "secrets", columns: ["provenance"] });
      return runs[0]?.provenance?.code?.archive ?? "";
    };
    await expect.poll(archive).not.toBe("");
    child.stdin.end();
    expect(await closed).toEqual([0, null]);

    const { runs } = await client.runs.searchRuns({ namespace: "secrets", columns: ["provenance"] });
    const log = await client.logs.readLog({ run: { id: runs[0]!.id }, limit: 10_000 });
    const printed = new Set(log.lines.map(({ text }) => text));
    for (const { text } of lines.filter(({ secret }) => secret === ""))
      expect(printed.has(text), text).toBe(true);
    expect(printed).toContain("a value of the environment: [redacted]");
    const { provenance } = runs[0]!;
    expect(provenance?.code?.dirtyPatch).toContain("[redacted]");
    expect(provenance?.command).toContain("[redacted]");
    const answer = await client.fetch(`/artifacts/${runs[0]!.id}/${provenance!.code!.archive}`);
    const everything = [
      inspect([runs, log.lines], { depth: 20, maxArrayLength: null, maxStringLength: null }),
      gunzipSync(await answer.bytes()).toString("latin1"),
    ];
    server.child.kill("SIGTERM");
    await server.exited;
    for (const path of filesUnder(join(folder, "data"))) everything.push(readFileSync(path, "latin1"));
    expect(everything[1]).toContain("changed.txt");
    const secrets = new Set(
      [...corpus.map(({ secret }) => secret), "planted-in-env"].filter((one) => one !== ""),
    );
    const found = [...secrets].filter((secret) => everything.some((text) => text.includes(secret)));
    expect(found).toEqual([]);
  });
});
