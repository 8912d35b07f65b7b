"""Which process of a distributed job this is, as its launcher left it in the environment.

Launchers nest: Slurm starts torchrun, which starts the workers, and the variables of all are there at once. They are
read from the inside out, and the first complete answer is used. sdk/typescript/capture/ranks.ts has the same rules and
makes the same aliases, so that programs of one job share a run in any language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, Optional

_RANK_MAX = 1_000_000
_ALIAS_BYTES_MAX = 1024
#: Slurm's numbers for steps that are not `srun`: batch script, interactive shell, extern.
_SPECIAL_STEP_MIN = 0xFFFFFFF0
#: People write `--rdzv-id=100` into a script and start it again tomorrow.
_RENDEZVOUS_CHARACTERS_MIN = 8

Environment = Mapping[str, str]
Parent = Callable[[], Optional[str]]


class Rank(NamedTuple):
    #: None in a world of one.
    rank: int | None = None
    #: Among the processes of this machine.
    local_rank: int | None = None
    world_size: int | None = None
    #: The same in all processes of a job, and in no other job: they find or create their run by it.
    job_alias: str | None = None
    #: How often the job was restarted, as its launcher counts.
    attempt: str | None = None


class _World(NamedTuple):
    rank: int
    size: int | None = None
    local_rank: int | None = None
    alias: str | None = None


def read_rank(env: Environment | None = None, parent: Parent | None = None) -> Rank:
    env = os.environ if env is None else env
    parent = parent or _parent_process
    world = (
        _torchrun(env, parent)
        or _open_mpi(env, parent)
        or _mpich(env, parent)
        or _slurm(env)
        or _pmix(env)
        or _torchx_replica(env)
    )
    if world is not None and world.size == 1:
        world = None
    alias = _torchx_job(env) or (world.alias if world is not None else None)
    if world is None:
        return Rank(job_alias=_usable(alias), attempt=_attempt(env))
    return Rank(world.rank, world.local_rank, world.size, _usable(alias), _attempt(env))


def _torchrun(env: Environment, parent: Parent) -> _World | None:
    world = _world(env, "RANK", "WORLD_SIZE", "LOCAL_RANK")
    if world is None:
        return None
    rendezvous = env.get("TORCHELASTIC_RUN_ID", "")
    job = _slurm_step(env) or _slurm_job(env)
    prefix = "torchrun" if job is None else f"{job}/torchrun"
    # A rendezvous without a name is called "none".
    is_named = rendezvous not in ("", "none")
    if is_named and (job is not None or len(rendezvous) >= _RENDEZVOUS_CHARACTERS_MIN):
        return world._replace(alias=f"{prefix}:{rendezvous}")
    launch = _only_here(world, env.get("LOCAL_WORLD_SIZE"), parent)
    if launch is not None:
        return world._replace(alias=f"{prefix}:{launch}")
    return world if job is None else world._replace(alias=prefix)


def _open_mpi(env: Environment, parent: Parent) -> _World | None:
    world = _world(env, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK")
    if world is None:
        return None
    launch = _only_here(world, env.get("OMPI_COMM_WORLD_LOCAL_SIZE"), parent) or _mpi_launch(env)
    if launch is None:
        return world
    job = _slurm_job(env)
    return world._replace(alias=f"mpi:{launch}" if job is None else f"{job}/mpi:{launch}")


def _mpich(env: Environment, parent: Parent) -> _World | None:
    """MPICH, Intel MPI, and Slurm's own PMI. They do not name the job."""
    world = _world(env, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID")
    if world is None:
        return None
    step = _slurm(env)
    # With `srun --mpi=pmi2` the step of Slurm is the job; under `mpiexec` it is only one of its daemons.
    if step is not None and (step.rank, step.size) == (world.rank, world.size):
        return step if world.local_rank is None else step._replace(local_rank=world.local_rank)
    launch = _only_here(world, env.get("MPI_LOCALNRANKS"), parent)
    return world if launch is None else world._replace(alias=f"mpi:{launch}")


def _slurm(env: Environment) -> _World | None:
    """Only processes that `srun` started are ranks: a batch script has SLURM_PROCID=0 too, but it is alone."""
    names = [name for name in ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS") if name in env]
    if not names or _step_number(env) is None:
        return None
    world = _world(env, "SLURM_PROCID", names[0], "SLURM_LOCALID")
    return world if world is None else world._replace(alias=_slurm_step(env))


def _step_number(env: Environment) -> int | None:
    return _count(env.get("SLURM_STEP_ID", env.get("SLURM_STEPID")), _SPECIAL_STEP_MIN - 1)


def _slurm_step(env: Environment) -> str | None:
    job, step = _slurm_job(env), _step_number(env)
    return None if job is None or step is None else f"{job}.{step}"


def _slurm_job(env: Environment) -> str | None:
    """As `squeue` shows it: `slurm:CLUSTER/JOB` or, in an array, `slurm:CLUSTER/ARRAY_TASK`."""
    array, task = env.get("SLURM_ARRAY_JOB_ID", ""), env.get("SLURM_ARRAY_TASK_ID", "")
    whole = r"\d{1,10}"
    is_array = re.fullmatch(whole, array, re.ASCII) and re.fullmatch(whole, task, re.ASCII)
    job = f"{array}_{task}" if is_array else env.get("SLURM_JOB_ID", "")
    if not re.fullmatch(r"\d{1,10}(?:_\d{1,10})?", job, re.ASCII):
        return None
    cluster = env.get("SLURM_CLUSTER_NAME", "")
    return f"slurm:{cluster}/{job}" if cluster else f"slurm:{job}"


def _pmix(env: Environment) -> _World | None:
    """PMIx gives a process its rank, but not the world size."""
    rank = _count(env.get("PMIX_RANK"), _RANK_MAX - 1)
    if rank is None:
        return None
    launch = _mpi_launch(env)
    return _World(rank, alias=None if launch is None else f"mpi:{launch}")


def _torchx_replica(env: Environment) -> _World | None:
    """A role of TorchX with several replicas that passes its replica number on."""
    rank = _count(env.get("TORCHX_REPLICA_ID"), _RANK_MAX - 1) if _torchx_job(env) is not None else None
    return None if rank is None else _World(rank)


def _world(env: Environment, rank_name: str, size_name: str, local_name: str) -> _World | None:
    """None unless both numbers are there and fit each other. A local rank that does not fit is left out."""
    size = _count(env.get(size_name), _RANK_MAX)
    rank = _count(env.get(rank_name), (size or 0) - 1)
    if size is None or rank is None:
        return None
    return _World(rank, size, _count(env.get(local_name), size - 1))


def _torchx_job(env: Environment) -> str | None:
    job = env.get("TORCHX_JOB_ID", "")
    return None if job in ("", "<UNDEFINED>") else job


def _mpi_launch(env: Environment) -> str | None:
    """Identifies one `mpirun`: the address of the launcher, hashed to keep it private; or a
    name."""
    address = env.get("OMPI_MCA_orte_hnp_uri", "")
    if address:
        return _hash(address)
    return env.get("PMIX_NAMESPACE") or None


def _only_here(world: _World, local_size: str | None, parent: Parent) -> str | None:
    """Where all processes of a job are children of one launcher, that launcher is the job."""
    return parent() if world.size is not None and _count(local_size, _RANK_MAX) == world.size else None


def _parent_process() -> str | None:
    """Process ids are reused; with the id of the boot and the start time they are unique."""
    pid = os.getppid()
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            boot = file.read().strip()
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            start = file.read().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None
    if pid <= 1:
        return None
    identity = "\0".join((_host(), boot, str(pid), start))
    return _hash(identity)


def _attempt(env: Environment) -> str | None:
    counts = [_count(env.get(name), _RANK_MAX) for name in ("SLURM_RESTART_COUNT", "TORCHELASTIC_RESTART_COUNT")]
    said = [str(count) for count in counts if count is not None]
    return ".".join(said) or None


def _usable(alias: str | None) -> str | None:
    """An alias that the server would refuse is left out: the run is still recorded."""
    if alias is None or re.search(r"[\x00-\x1f\x7f]", alias):
        return None
    try:
        return alias if len(alias.encode("utf-8")) <= _ALIAS_BYTES_MAX else None
    except UnicodeEncodeError:
        return None


def _count(text: str | None, most: int) -> int | None:
    """A plain whole number from 0 to `most`."""
    if text is None or not re.fullmatch(r"\d{1,10}", text.strip(), re.ASCII):
        return None
    value = int(text)
    return value if value <= most else None


def _hash(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _host() -> str:
    import socket

    return socket.gethostname()
