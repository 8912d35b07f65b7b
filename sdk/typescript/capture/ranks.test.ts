import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readRank, type Rank } from "./ranks.ts";

type Case = [title: string, env: Record<string, string>, expected: Rank];

const TORCHRUN = { RANK: "9", LOCAL_RANK: "1", WORLD_SIZE: "16" };
const SRUN = {
  SLURM_JOB_ID: "4711",
  SLURM_STEP_ID: "0",
  SLURM_PROCID: "3",
  SLURM_NTASKS: "8",
  SLURM_LOCALID: "1",
};
const MPIRUN = {
  OMPI_COMM_WORLD_RANK: "2",
  OMPI_COMM_WORLD_SIZE: "4",
  OMPI_COMM_WORLD_LOCAL_RANK: "0",
};
const UUID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427";

const launchers: Case[] = [
  ["nothing", {}, {}],
  ["torchrun", TORCHRUN, { rank: 9, localRank: 1, worldSize: 16 }],
  ["torchrun without a local rank", { RANK: "0", WORLD_SIZE: "2" }, { rank: 0, worldSize: 2 }],
  ["srun", SRUN, { rank: 3, localRank: 1, worldSize: 8, jobAlias: "slurm:4711.0" }],
  [
    "srun of fewer tasks than the job has",
    { ...SRUN, SLURM_STEP_NUM_TASKS: "4" },
    { rank: 3, localRank: 1, worldSize: 4, jobAlias: "slurm:4711.0" },
  ],
  ["mpirun", MPIRUN, { rank: 2, localRank: 0, worldSize: 4 }],
  ["MPICH", { PMI_RANK: "5", PMI_SIZE: "6", MPI_LOCALRANKID: "1" }, { rank: 5, worldSize: 6, localRank: 1 }],
  ["PMIx alone", { PMIX_RANK: "3" }, { rank: 3 }],
  [
    "a replica of TorchX",
    { TORCHX_JOB_ID: "local_cwd://torchx/a-1", TORCHX_REPLICA_ID: "2" },
    { rank: 2, jobAlias: "local_cwd://torchx/a-1" },
  ],
  ["a replica number without TorchX", { TORCHX_REPLICA_ID: "2" }, {}],
];

const nested: Case[] = [
  [
    "torchrun started by srun, one on each node",
    { ...SRUN, SLURM_PROCID: "1", SLURM_NTASKS: "2", ...TORCHRUN },
    { rank: 9, localRank: 1, worldSize: 16, jobAlias: "slurm:4711.0/torchrun" },
  ],
  [
    "mpirun whose daemons were started by srun",
    { ...SRUN, ...MPIRUN, PMIX_NAMESPACE: "prterun-n1-77@1" },
    { rank: 2, localRank: 0, worldSize: 4, jobAlias: "slurm:4711/mpi:prterun-n1-77@1" },
  ],
  ["mpiexec of MPICH within srun", { ...SRUN, PMI_RANK: "0", PMI_SIZE: "64" }, { rank: 0, worldSize: 64 }],
  [
    "srun --mpi=pmi2",
    { ...SRUN, PMI_RANK: "3", PMI_SIZE: "8" },
    { rank: 3, localRank: 1, worldSize: 8, jobAlias: "slurm:4711.0" },
  ],
  [
    "srun --mpi=pmix",
    { ...SRUN, PMIX_RANK: "3", PMIX_NAMESPACE: "slurm.pmix.4711.0" },
    { rank: 3, localRank: 1, worldSize: 8, jobAlias: "slurm:4711.0" },
  ],
  ["torchrun of one process within srun", { ...SRUN, RANK: "0", WORLD_SIZE: "1" }, {}],
  [
    "ranks of torchrun that make no sense within mpirun",
    { ...MPIRUN, RANK: "gold", WORLD_SIZE: "16" },
    { rank: 2, localRank: 0, worldSize: 4 },
  ],
];

const alone: Case[] = [
  ["a world of one", { RANK: "0", LOCAL_RANK: "0", WORLD_SIZE: "1" }, {}],
  ["srun of one task", { ...SRUN, SLURM_PROCID: "0", SLURM_NTASKS: "1" }, {}],
  ["sbatch of one task", { SLURM_JOB_ID: "4711", SLURM_PROCID: "0", SLURM_NTASKS: "1" }, {}],
  ["a batch script that may start eight", { SLURM_JOB_ID: "4711", SLURM_PROCID: "0", SLURM_NTASKS: "8" }, {}],
  ["an interactive shell of Slurm", { ...SRUN, SLURM_PROCID: "0", SLURM_STEP_ID: "4294967290" }, {}],
  ["mpirun of one", { OMPI_COMM_WORLD_RANK: "0", OMPI_COMM_WORLD_SIZE: "1" }, {}],
];

const bad: Case[] = [
  [
    "-1",
    "abc",
    "",
    " ",
    "1.5",
    "1e1",
    "0x1",
    "16",
    "17",
    "9007199254740993",
    "99999999999999999999",
    "NaN",
  ].map((rank): Case => [`RANK=${rank} of 16`, { RANK: rank, WORLD_SIZE: "16" }, {}]),
  ["0", "-4", "four", "", "1000001", "16 nodes"].map((size): Case => [
    `WORLD_SIZE=${size}`,
    { RANK: "0", WORLD_SIZE: size },
    {},
  ]),
  [
    ["RANK without WORLD_SIZE", { RANK: "3" }, {}] satisfies Case,
    ["WORLD_SIZE without RANK", { WORLD_SIZE: "3" }, {}] satisfies Case,
    ["LOCAL_RANK=x", { ...TORCHRUN, LOCAL_RANK: "x" }, { rank: 9, worldSize: 16 }] satisfies Case,
    [
      "LOCAL_RANK beyond the world",
      { ...TORCHRUN, LOCAL_RANK: "16" },
      { rank: 9, worldSize: 16 },
    ] satisfies Case,
    ["the wildcard of PMIX_RANK", { PMIX_RANK: "4294967294" }, {}] satisfies Case,
    ["spaces around", { RANK: " 1", WORLD_SIZE: "2 " }, { rank: 1, worldSize: 2 }] satisfies Case,
    ["a broken restart count", { SLURM_RESTART_COUNT: "-1" }, {}] satisfies Case,
  ],
].flat();

describe("readRank", () => {
  it.each(launchers)("C20 knows %s", (_title, env, expected) => {
    expect(readRank(env)).toEqual(expected);
  });

  it.each(nested)("C20 uses the innermost launcher: %s", (_title, env, expected) => {
    expect(readRank(env)).toEqual(expected);
  });

  it.each(alone)("C20 gives no rank to %s", (_title, env, expected) => {
    expect(readRank(env)).toEqual(expected);
  });

  it.each(bad)("C20 ignores a malformed value: %s", (_title, env, expected) => {
    expect(readRank(env)).toEqual(expected);
  });
});

describe("the alias of a job", () => {
  const alias = (env: Record<string, string>) => readRank(env).jobAlias;

  it("C21 is the job id of TorchX before all others, ranked or not", () => {
    const TORCHX_JOB_ID = "slurm://torchx/1234";
    expect(alias({ TORCHX_JOB_ID })).toBe(TORCHX_JOB_ID);
    expect(alias({ TORCHX_JOB_ID, ...SRUN, ...TORCHRUN, TORCHELASTIC_RUN_ID: UUID })).toBe(TORCHX_JOB_ID);
    expect(alias({ TORCHX_JOB_ID: "<UNDEFINED>" })).toBeUndefined();
  });

  it("C21 is the rendezvous of torchrun, unless that has a common name", () => {
    expect(alias({ ...TORCHRUN, TORCHELASTIC_RUN_ID: UUID })).toBe(`torchrun:${UUID}`);
    for (const id of ["none", "", "100"])
      expect(alias({ ...TORCHRUN, TORCHELASTIC_RUN_ID: id })).toBeUndefined();
    expect(alias({ ...TORCHRUN, SLURM_JOB_ID: "4711", TORCHELASTIC_RUN_ID: "100" })).toBe(
      "slurm:4711/torchrun:100",
    );
  });

  it("C21 is their launcher where all processes are its children", () => {
    const here = { ...TORCHRUN, TORCHELASTIC_RUN_ID: "none", LOCAL_WORLD_SIZE: "16" };
    const parent = () => "p";
    expect(readRank(here, parent).jobAlias).toBe("torchrun:p");
    expect(readRank({ ...here, LOCAL_WORLD_SIZE: "8" }, parent).jobAlias).toBeUndefined();
    expect(readRank({ ...here, TORCHELASTIC_RUN_ID: UUID }, parent).jobAlias).toBe(`torchrun:${UUID}`);
    expect(readRank({ ...here, ...SRUN }, parent).jobAlias).toBe("slurm:4711.0/torchrun:p");
    expect(readRank({ ...MPIRUN, OMPI_COMM_WORLD_LOCAL_SIZE: "4" }, parent).jobAlias).toBe("mpi:p");
    expect(readRank({ PMI_RANK: "0", PMI_SIZE: "2", MPI_LOCALNRANKS: "2" }, parent).jobAlias).toBe("mpi:p");
  });

  it.runIf(process.platform === "linux")(
    "C21 is the same in two children and not in a grandchild",
    async () => {
      const file = fileURLToPath(new URL("ranks.ts", import.meta.url));
      const script = `import(${JSON.stringify(file)}).then(({ readRank }) => console.log(readRank().jobAlias))`;
      const ask = async (...command: string[]) => {
        const env = {
          PATH: process.env["PATH"],
          RANK: "0",
          WORLD_SIZE: "2",
          LOCAL_WORLD_SIZE: "2",
          SCRIPT: script,
        };
        const child = spawn(command[0]!, command.slice(1), { env, timeout: 60_000 });
        let text = "";
        child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        await once(child, "close");
        return text.trim();
      };
      const [one, two, grandchild] = await Promise.all([
        ask(process.execPath, "-e", script),
        ask(process.execPath, "-e", script),
        ask("/bin/sh", "-c", `${process.execPath} -e "$SCRIPT"; true`),
      ]);
      expect(one).toMatch(/^torchrun:[0-9a-f]{32}$/);
      expect(two).toBe(one);
      expect(grandchild).toMatch(/^torchrun:[0-9a-f]{32}$/);
      expect(grandchild).not.toBe(one);
    },
  );

  it("C21 distinguishes the tasks of an array, and the steps of a job", () => {
    const array = { ...SRUN, SLURM_ARRAY_JOB_ID: "4700", SLURM_ARRAY_TASK_ID: "11" };
    expect(alias(array)).toBe("slurm:4700_11.0");
    expect(alias({ ...array, SLURM_STEP_ID: "1" })).toBe("slurm:4700_11.1");
    expect(alias({ ...array, SLURM_CLUSTER_NAME: "north" })).toBe("slurm:north/4700_11.0");
    expect(alias({ ...SRUN, SLURM_JOB_ID: "x" })).toBeUndefined();
  });

  it("C21 does not show where mpirun listens", () => {
    const first = alias({ ...MPIRUN, OMPI_MCA_orte_hnp_uri: "81.0;tcp://10.0.0.1:41234" });
    expect(first).toMatch(/^mpi:[0-9a-f]{32}$/);
    expect(alias({ ...MPIRUN, OMPI_MCA_orte_hnp_uri: "81.0;tcp://10.0.0.1:41235" })).not.toBe(first);
  });

  it("C21 is left out where the server would refuse it", () => {
    for (const TORCHX_JOB_ID of ["x".repeat(1025), "a\nb", "\ud800"])
      expect(alias({ TORCHX_JOB_ID })).toBeUndefined();
  });

  it("C20 counts restarts of the job and of its workers", () => {
    expect(readRank({ TORCHELASTIC_RESTART_COUNT: "2" }).attempt).toBe("2");
    expect(readRank({ SLURM_RESTART_COUNT: "1", TORCHELASTIC_RESTART_COUNT: "0" }).attempt).toBe("1.0");
  });
});
