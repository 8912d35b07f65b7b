import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readRank } from "#sdk/capture/ranks.ts";
import { redactPatch } from "#sdk/capture/patch.ts";
import { redactArgs } from "#sdk/capture/secret-args.ts";
import { LineRedactor } from "#sdk/capture/secret-lines.ts";
import { readCorpus, wordsOf, type Form } from "#sdk/capture/testing/corpus.ts";
import { startChild, type ChildServer } from "#server/testing/child.ts";
import { makeFolder } from "#server/testing/servers.ts";
import { installPackage, PACKAGE, runPython, runPythonTests } from "./python.ts";

let folder: string;
let server: ChildServer;

beforeAll(async () => {
  folder = makeFolder();
  server = await startChild(["--data", join(folder, "data")]);
});

afterAll(async () => {
  server.child.kill("SIGTERM");
  await server.exited;
  rmSync(folder, { recursive: true });
});

const tests = (...names: string[]) =>
  runPythonTests(
    names.map((name) => `tests.${name}`),
    { url: server.url },
  );

describe("the Python client", () => {
  it("Y1 needs nothing but Python and is loaded when it is used", async () => {
    const installed = installPackage(folder);
    const program = [
      "import sys, time",
      "before = set(sys.modules)",
      "begun = time.perf_counter()",
      "import cairn",
      "cairn.init",
      "took = time.perf_counter() - begun",
      "new = {name.split('.')[0] for name in set(sys.modules) - before}",
      "foreign = sorted(name for name in new if name != 'cairn' and name not in sys.stdlib_module_names)",
      "assert not foreign, foreign",
      "assert not {'http', 'ssl', 'torch', 'numpy', 'torchx'} & new, new",
      "assert cairn.__file__.startswith(sys.argv[1]), cairn.__file__",
      "assert took < 0.5, took",
      "print('alone')",
    ].join("\n");
    // -S leaves out site-packages: there is nothing else to find.
    const { output } = await runPython(["-S", "-c", program, installed], { path: [installed], cwd: folder });
    expect(output).toBe("alone\n");
  });

  it("Y1 has one version, in code and in its manifest", async () => {
    const program =
      "import cairn, re; print(re.search('^version = \"(.*)\"', open('pyproject.toml').read(), re.M)[1] == cairn.__version__)";
    expect((await runPython(["-c", program], { path: [PACKAGE] })).output).toBe("True\n");
  });

  it("Y2 writes messages by hand that mean what the contract says", () => tests("test_wire"));

  it("Y3 begins, logs, resumes and ends a run; what is logged comes back as what it was", () =>
    tests("test_run"));

  it("Y4, R12: writes the spool of the format and reads around damage", () => tests("test_segment"));

  it("Y5, Y6 keeps the spool within its bounds, on a disk that fails and in memory", () =>
    tests("test_spool"));

  it("Y7, R11: survives kills and outages, ends soon without a server, and `cairn sync` delivers the rest", () =>
    tests("test_outage"));

  it("Y8 goes on in forked children, children of multiprocessing and threads", () =>
    tests("test_processes.ForkTest"));

  it("Y9 ends with its process, by whatever that ends", () =>
    tests("test_critical", "test_processes.EndTest"));

  it("Y10 A30 finds its server and token as `cairn` does", () => tests("test_login", "test_local_secret"));

  it("Y11 takes no garbage for an answer, and has a deadline, a proxy, IPv6 and TLS", () =>
    runPythonTests(["tests.test_client"], { skipsMax: 1 }));

  it("Y12 knows values of numpy, torch and torchmetrics by how they behave", () => tests("test_values"));

  it("Y13 records console, code, packages, machine and load, and no secret", () => tests("test_capture"));

  it("Y35 records nothing whose capture the server forbids", () => tests("test_forbidden"));

  it("Y14 keeps results and files by key", () =>
    runPythonTests(["tests.test_results"], { url: server.url, skipsMax: 1 }));

  it("Y15 makes the same of a launcher's environment as the TypeScript client", async () => {
    const environments = generateEnvironments(400);
    const program = [
      "import json, sys",
      "from cairn.ranks import read_rank",
      "for env in json.load(open(sys.argv[1])):",
      "    rank = read_rank(env, lambda: 'parent')",
      "    print(json.dumps([rank.rank, rank.local_rank, rank.world_size, rank.job_alias, rank.attempt]))",
    ].join("\n");
    const output = await withFile(JSON.stringify(environments), program);
    const found = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown[]);
    expect(found).toHaveLength(environments.length);
    let aliases = 0;
    for (const [index, env] of environments.entries()) {
      const {
        rank = null,
        localRank = null,
        worldSize = null,
        jobAlias = null,
        attempt = null,
      } = readRank(env, () => "parent");
      expect(found[index], JSON.stringify(env)).toEqual([rank, localRank, worldSize, jobAlias, attempt]);
      if (jobAlias !== null) aliases++;
    }
    expect(aliases).toBeGreaterThan(50);
  });

  it("Y16 makes the same as the TypeScript client of every text with secrets in it", async () => {
    const corpus = readCorpus().filter(({ where }) => where !== "file" && where !== "environment");
    const more = [
      "python train.py --lr 0.1 --hub-token abc --max-tokens 5 --password=hunter2␣x API_KEY=abc --tokenizer bpe --no-auth y",
      `postgres://u:p@host/db https://host:80/x ssh://git@host/x ghp_${"a".repeat(30)}`,
      '-H Authorization:␣Bearer␣abcdefghij {"secret":␣"x",␣"n":␣1} --secret -- -v',
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI.sig wandb_api_key:␣abc keys=3 a.b.token=5 AKIAABCDEFGHIJKLMNOP",
    ].map((text): Form => ({ where: "command", text, secret: "" }));
    const forms = [...corpus, ...more];
    const program = [
      "import json, sys",
      "from cairn.capture.patch import redact_patch",
      "from cairn.capture.secret_args import redact_args",
      "from cairn.capture.secret_lines import LineRedactor",
      "from tests.corpus import words_of",
      "for form in json.load(open(sys.argv[1])):",
      "    text, redactor = form['text'], LineRedactor({})",
      "    if form['where'] == 'line': clean = [redactor.redact(line) for line in text.split('\\n')]",
      "    elif form['where'] == 'patch': clean = [redact_patch(text)]",
      "    else: clean = redact_args(words_of(text))",
      "    print(json.dumps(clean))",
    ].join("\n");
    const output = await withFile(JSON.stringify(forms), program);
    const found = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
    expect(found).toHaveLength(forms.length);
    for (const [at, form] of forms.entries()) expect(found[at], form.text).toEqual(redacted(form));
    const last = found.slice(corpus.length).flat().join(" ");
    expect(last).not.toMatch(/hunter2|abcdefghij|ghp_|eyJ|AKIA|u:p@|=abc|token=5/);
  });

  it("S30 Y26 stores nothing of the corpus of secrets, and harmless lines as they are", () =>
    tests("test_secrets"));
});

function redacted({ where, text }: Form): string[] {
  if (where === "command") return redactArgs(wordsOf(text));
  if (where === "patch") return [redactPatch(text).text];
  const redactor = new LineRedactor({});
  return text.split("\n").map((line) => redactor.redact(line));
}

async function withFile(content: string, program: string): Promise<string> {
  const { writeFileSync } = await import("node:fs");
  const path = join(folder, `input-${content.length}.json`);
  writeFileSync(path, content);
  const { status, output } = await runPython(["-c", program, path], { path: [PACKAGE] });
  expect(status, output).toBe(0);
  return output;
}

/** Variables of all launchers, with good and bad values, in all mixtures. */
function generateEnvironments(count: number): Record<string, string>[] {
  const choices: Record<string, readonly string[]> = {
    RANK: ["0", "3", "-1", "abc", " 2 ", "9"],
    WORLD_SIZE: ["1", "4", "0", ""],
    LOCAL_RANK: ["0", "1", "7"],
    LOCAL_WORLD_SIZE: ["4", "2"],
    TORCHELASTIC_RUN_ID: ["none", "100", "a-long-rendezvous"],
    TORCHELASTIC_RESTART_COUNT: ["0", "2", "x"],
    SLURM_JOB_ID: ["77", "x"],
    SLURM_STEP_ID: ["0", "4294967291"],
    SLURM_PROCID: ["0", "2"],
    SLURM_NTASKS: ["1", "4"],
    SLURM_LOCALID: ["1"],
    SLURM_ARRAY_JOB_ID: ["70"],
    SLURM_ARRAY_TASK_ID: ["7", "?"],
    SLURM_CLUSTER_NAME: ["big", ""],
    SLURM_RESTART_COUNT: ["1"],
    OMPI_COMM_WORLD_RANK: ["1"],
    OMPI_COMM_WORLD_SIZE: ["4", "1"],
    OMPI_COMM_WORLD_LOCAL_SIZE: ["4", "2"],
    OMPI_MCA_orte_hnp_uri: ["123.0;tcp://10.0.0.1:3000"],
    PMI_RANK: ["0", "2"],
    PMI_SIZE: ["4"],
    MPI_LOCALNRANKS: ["4"],
    PMIX_RANK: ["5"],
    PMIX_NAMESPACE: ["prte-1"],
    TORCHX_JOB_ID: ["local://torchx/app", "<UNDEFINED>", "", "x\ny"],
    TORCHX_REPLICA_ID: ["1"],
  };
  let state = 20_261_115;
  const next = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return Array.from({ length: count }, () => {
    const env: Record<string, string> = {};
    for (const [name, values] of Object.entries(choices))
      if (next(3) === 0) env[name] = values[next(values.length)]!;
    return env;
  });
}
