/**
 * Which process of a distributed job this is, as its launcher left it in the environment.
 *
 * Launchers nest: Slurm starts `mpirun` or `torchrun` on every node, and those start the workers. The variables
 * of all of them are there at once, and only those of the innermost describe this process. So they are read from
 * the inside out, and the first complete answer is used, also when it has a world of one member.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Rank {
  /** Absent in a world of one. */
  rank?: number;
  /** Among the processes of this machine. */
  localRank?: number;
  /** Absent where the launcher does not say. */
  worldSize?: number;
  /** The same in all processes of a job, and in no other job: they find or create their run by it. */
  jobAlias?: string;
  /** How often the job was restarted, as its launcher counts. */
  attempt?: string;
}

interface World {
  rank: number;
  size?: number;
  localRank?: number;
  alias?: string;
}

const RANK_MAX = 1_000_000;
const ALIAS_BYTES_MAX = 1024;
/** Slurm's numbers for steps that are not `srun`: batch script, interactive shell, extern. */
const SLURM_SPECIAL_STEP_MIN = 0xfffffff0;
/** People write `--rdzv-id=100` into a script and start it again tomorrow. */
const TORCHELASTIC_ID_CHARACTERS_MIN = 8;

/** Identifies one launcher process, on any machine. */
export type Parent = () => string | undefined;

export function readRank(env: Environment = process.env, parent: Parent = parentProcess): Rank {
  const world =
    torchrun(env, parent) ??
    openMpi(env, parent) ??
    mpich(env, parent) ??
    slurm(env) ??
    pmix(env) ??
    torchxReplica(env);
  const isRanked = world !== undefined && world.size !== 1;
  const jobAlias = aliasOf(torchxJob(env) ?? (isRanked ? world.alias : undefined));
  const attempt = attemptOf(env);
  return {
    ...(isRanked && { rank: world.rank }),
    ...(isRanked && world.localRank !== undefined && { localRank: world.localRank }),
    ...(isRanked && world.size !== undefined && { worldSize: world.size }),
    ...(jobAlias !== undefined && { jobAlias }),
    ...(attempt !== undefined && { attempt }),
  };
}

function torchrun(env: Environment, parent: Parent): World | undefined {
  const world = worldFrom(env, "RANK", "WORLD_SIZE", "LOCAL_RANK");
  if (world === undefined) return undefined;
  const id = env["TORCHELASTIC_RUN_ID"] ?? "";
  const job = slurmStep(env) ?? slurmJob(env);
  const prefix = job === undefined ? "torchrun" : `${job}/torchrun`;
  // A rendezvous without a name is called "none".
  const isNamed = id !== "" && id !== "none";
  if (isNamed && (job !== undefined || id.length >= TORCHELASTIC_ID_CHARACTERS_MIN)) {
    return { ...world, alias: `${prefix}:${id}` };
  }
  const launch = onlyHere(world, env["LOCAL_WORLD_SIZE"], parent);
  if (launch !== undefined) return { ...world, alias: `${prefix}:${launch}` };
  return job === undefined ? world : { ...world, alias: prefix };
}

function openMpi(env: Environment, parent: Parent): World | undefined {
  const world = worldFrom(env, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK");
  if (world === undefined) return undefined;
  const launch = onlyHere(world, env["OMPI_COMM_WORLD_LOCAL_SIZE"], parent) ?? mpiLaunch(env);
  if (launch === undefined) return world;
  const job = slurmJob(env);
  return { ...world, alias: job === undefined ? `mpi:${launch}` : `${job}/mpi:${launch}` };
}

/** MPICH, Intel MPI, and Slurm's own PMI. They do not name the job. */
function mpich(env: Environment, parent: Parent): World | undefined {
  const world = worldFrom(env, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID");
  if (world === undefined) return undefined;
  const step = slurm(env);
  // With `srun --mpi=pmi2` the step of Slurm is the job; under `mpiexec` it is only one of its daemons.
  if (step !== undefined && step.rank === world.rank && step.size === world.size)
    return { ...step, ...world };
  const launch = onlyHere(world, env["MPI_LOCALNRANKS"], parent);
  return launch === undefined ? world : { ...world, alias: `mpi:${launch}` };
}

/**
 * Only processes that `srun` started are ranks. A batch script has SLURM_PROCID=0 and the number of tasks it may
 * start, but it is alone.
 */
function slurm(env: Environment): World | undefined {
  const sizeName = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"].find(
    (name) => env[name] !== undefined,
  );
  if (sizeName === undefined || stepNumber(env) === undefined) return undefined;
  const world = worldFrom(env, "SLURM_PROCID", sizeName, "SLURM_LOCALID");
  const alias = slurmStep(env);
  return world === undefined || alias === undefined ? world : { ...world, alias };
}

function stepNumber(env: Environment): number | undefined {
  return count(env["SLURM_STEP_ID"] ?? env["SLURM_STEPID"], SLURM_SPECIAL_STEP_MIN - 1);
}

function slurmStep(env: Environment): string | undefined {
  const job = slurmJob(env);
  const step = stepNumber(env);
  return job === undefined || step === undefined ? undefined : `${job}.${step}`;
}

/** PMIx gives a process its rank, but not the world size. */
function pmix(env: Environment): World | undefined {
  const rank = count(env["PMIX_RANK"], RANK_MAX - 1);
  if (rank === undefined) return undefined;
  const launch = mpiLaunch(env);
  return { rank, ...(launch !== undefined && { alias: `mpi:${launch}` }) };
}

/** A role of TorchX with several replicas that passes its replica number on. */
function torchxReplica(env: Environment): World | undefined {
  if (torchxJob(env) === undefined) return undefined;
  const rank = count(env["TORCHX_REPLICA_ID"], RANK_MAX - 1);
  return rank === undefined ? undefined : { rank };
}

/** undefined unless both numbers are there and fit each other. A local rank that does not fit is left out. */
function worldFrom(
  env: Environment,
  rankName: string,
  sizeName: string,
  localName: string,
): World | undefined {
  const size = count(env[sizeName], RANK_MAX);
  const rank = count(env[rankName], (size ?? 0) - 1);
  if (size === undefined || rank === undefined) return undefined;
  const localRank = count(env[localName], size - 1);
  return { rank, size, ...(localRank !== undefined && { localRank }) };
}

function torchxJob(env: Environment): string | undefined {
  const id = env["TORCHX_JOB_ID"];
  return id === undefined || id === "" || id === "<UNDEFINED>" ? undefined : id;
}

/** As `squeue` shows it: `slurm:CLUSTER/JOB` or, in an array, `slurm:CLUSTER/ARRAY_TASK`. */
function slurmJob(env: Environment): string | undefined {
  const whole = /^\d{1,10}$/;
  const array = env["SLURM_ARRAY_JOB_ID"] ?? "";
  const task = env["SLURM_ARRAY_TASK_ID"] ?? "";
  const id = whole.test(array) && whole.test(task) ? `${array}_${task}` : (env["SLURM_JOB_ID"] ?? "");
  if (!/^\d{1,10}(?:_\d{1,10})?$/.test(id)) return undefined;
  const cluster = env["SLURM_CLUSTER_NAME"];
  return cluster === undefined || cluster === "" ? `slurm:${id}` : `slurm:${cluster}/${id}`;
}

/**
 * Identifies one `mpirun`. Open MPI up to 4 gives the address of the launcher, whose port is new each
 * time; it is hashed to keep the address private. Open MPI 5 gives a name.
 */
function mpiLaunch(env: Environment): string | undefined {
  const address = env["OMPI_MCA_orte_hnp_uri"];
  if (address !== undefined && address !== "") {
    return createHash("sha256").update(address).digest("hex").slice(0, 32);
  }
  const name = env["PMIX_NAMESPACE"];
  return name === undefined || name === "" ? undefined : name;
}

/** Where all processes of a job are children of one launcher, that launcher is the job. */
function onlyHere({ size }: World, localSize: string | undefined, parent: Parent): string | undefined {
  return size !== undefined && count(localSize, RANK_MAX) === size ? parent() : undefined;
}

/** Process ids are reused; with the id of the boot and the start time they are unique. */
function parentProcess(): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${process.ppid}/stat`, "utf8");
    // The name of the program comes second, in brackets, and may hold anything; the start is field 22.
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    if (process.ppid <= 1 || start === undefined) return undefined;
    const identity = [hostname(), boot, process.ppid, start].join("\0");
    return createHash("sha256").update(identity).digest("hex").slice(0, 32);
  } catch {
    return undefined;
  }
}

function attemptOf(env: Environment): string | undefined {
  const restarts = [env["SLURM_RESTART_COUNT"], env["TORCHELASTIC_RESTART_COUNT"]]
    .map((text) => count(text, RANK_MAX))
    .filter((restart) => restart !== undefined);
  return restarts.length === 0 ? undefined : restarts.join(".");
}

/** An alias that the server would refuse is left out: the run is still recorded. */
function aliasOf(text: string | undefined): string | undefined {
  if (text === undefined || !text.isWellFormed()) return undefined;
  return Buffer.byteLength(text) > ALIAS_BYTES_MAX || /[\u0000-\u001f\u007f]/.test(text) ? undefined : text;
}

/** A plain whole number from 0 to `max`. */
function count(text: string | undefined, max: number): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text.trim())) return undefined;
  const value = Number(text.trim());
  return value <= max ? value : undefined;
}
