import { describe, expect, it } from "vitest";
import { readRank } from "#sdk/capture/ranks.ts";
import { askPython, PACKAGE, runPython, runPythonTests, useDiskServer, usePythonTests } from "./python.ts";

const server = useDiskServer();
const tests = usePythonTests(server);

describe("the Python client", () => {
  it("Y1 has one version, in code and in its manifest", async () => {
    const program =
      "import cairn, re; print(re.search('^version = \"(.*)\"', open('pyproject.toml').read(), re.M)[1] == cairn.__version__)";
    expect((await runPython(["-c", program], { path: [PACKAGE] })).output).toBe("True\n");
  });

  it("Y2 writes messages by hand that follow the contract", () => tests("test_wire"));

  it("Y3 begins, logs, resumes and ends a run; logged values come back unchanged", () => tests("test_run"));

  it("Y4, R12: writes the spool of the format and reads around damage", () => tests("test_segment"));

  it("Y5, Y6 keeps the spool within its bounds, on a disk that fails and in memory", () =>
    tests("test_spool"));

  it("Y10 A30 finds its server and token as `cairn` does", () => tests("test_login", "test_local_secret"));

  it("Y207 describes keys, and sets the objective of a namespace", () => tests("test_describe"));

  it("Y208 has media types of its own, and messages for the person at hand", () =>
    tests("test_media_types", "test_login.ChosenTest"));

  it("Y12 knows values of numpy, torch and torchmetrics by how they behave", () => tests("test_values"));

  it("Y14 keeps results and files by key", () =>
    runPythonTests(["tests.test_results"], { url: server().url, skipsMax: 1 }));

  it("Y15 reads a launcher's environment as the TypeScript client does", async () => {
    const environments = generateEnvironments(400);
    const program = [
      "import json, sys",
      "from cairn.ranks import read_rank",
      "for env in json.load(open(sys.argv[1])):",
      "    rank = read_rank(env, lambda: 'parent')",
      "    print(json.dumps([rank.rank, rank.local_rank, rank.world_size, rank.job_alias, rank.attempt]))",
    ].join("\n");
    const output = await askPython(program, environments);
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
});

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
