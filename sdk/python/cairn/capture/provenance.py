"""What is needed to run it again besides the code: command, packages, machine, variables, user."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Iterator, Mapping

from cairn.capture.secret_args import redact_args
from cairn.capture.secret_names import is_secret_name
from cairn.capture.secrets import redact_text

_PACKAGES_MAX = 5000
_ARGUMENT_CHARACTERS_MAX = 8 << 10
_ARGUMENTS_MAX = 1000
_COMMAND_CHARACTERS_MAX = 256 << 10
#: Variables that say how a job was run. Nothing else of the environment is read.
_VARIABLES = re.compile(
    r"CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|NVIDIA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES"
    r"|OMP_NUM_THREADS|MKL_NUM_THREADS|NCCL_\w+|TORCH_\w+|PYTORCH_\w+|TORCHELASTIC_\w+|PYTHONHASHSEED|XLA_FLAGS"
    r"|RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|GROUP_RANK|MASTER_ADDR|MASTER_PORT"
    r"|TORCHX_JOB_ID|TORCHX_TRACKING_\w+|TORCHX_PARENT_RUN_ID|TORCHX_RANK0_HOST"
    r"|SLURM_(?:JOB_ID|JOB_NAME|JOB_NUM_NODES|NNODES|NTASKS|PROCID|LOCALID|NODEID|STEP_ID|CLUSTER_NAME|JOB_PARTITION"
    r"|JOB_NODELIST|ARRAY_JOB_ID|ARRAY_TASK_ID|RESTART_COUNT|CPUS_PER_TASK|GPUS_ON_NODE)",
    re.ASCII,
)


def redacted_command(argv: list[str]) -> list[str]:
    words = [word.encode("utf-8", "replace").decode("utf-8")[:_ARGUMENT_CHARACTERS_MAX] for word in argv]
    left = _COMMAND_CHARACTERS_MAX
    kept: list[str] = []
    for word in words[:_ARGUMENTS_MAX]:
        left -= len(word)
        if left < 0:
            break
        kept.append(word)
    return redact_args(kept)


def user_name(env: Mapping[str, str]) -> str:
    """Of the operating system. Inside a container the number may have no name."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError, AttributeError):
        named = next((env[name] for name in ("LOGNAME", "USER", "USERNAME") if env.get(name)), "")
        return named or (str(os.getuid()) if hasattr(os, "getuid") else "")


def describe_machine() -> dict[str, str]:
    """Under the names that the TypeScript client uses."""
    distribution = re.search(r'^PRETTY_NAME="?([^"\n]*)"?$', _read("/etc/os-release"), re.MULTILINE)
    system = f"{platform.system()} {platform.release()}"
    found = {
        "host": socket.gethostname(),
        "os": f"{system} ({distribution[1]})" if distribution else system,
        "arch": platform.machine(),
        "cpu": _first_field("/proc/cpuinfo", "model name"),
        "cpu.count": str(os.cpu_count() or ""),
        "memory.bytes": _memory_bytes(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    for index, model in enumerate(_gpus()):
        found[f"gpu.{index}"] = model
        found["gpu.driver"] = _driver()
    return {name: value for name, value in found.items() if value}


def _gpus() -> Iterator[str]:
    """The driver of NVIDIA lists its cards there, at once; nvidia-smi may take seconds."""
    folder = "/proc/driver/nvidia/gpus"
    try:
        cards = sorted(os.listdir(folder))
    except OSError:
        return
    for card in cards[:64]:
        yield _first_field(f"{folder}/{card}/information", "Model") or "NVIDIA"


def _driver() -> str:
    found = re.search(r"\s(\d+\.\d+(?:\.\d+)?)\s", _read("/proc/driver/nvidia/version"))
    return found[1] if found else ""


def _memory_bytes() -> str:
    found = re.match(r"(\d+)", _first_field("/proc/meminfo", "MemTotal"))
    return str(int(found[1]) << 10) if found else ""


def _first_field(path: str, name: str) -> str:
    for line in _read(path).splitlines():
        label, colon, value = line.partition(":")
        if colon and label.strip() == name:
            return value.strip()
    return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 16)
    except OSError:
        return ""


def chosen_variables(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name in sorted(env):
        value = env[name]
        if _VARIABLES.fullmatch(name) and not is_secret_name(name) and redact_text(value) == value:
            yield f"env:{name}", value[:_ARGUMENT_CHARACTERS_MAX]


def find_packages(folders: list[str]) -> dict[str, str]:
    """What is installed, by the names of its folders: importlib.metadata opens a file for each, which takes a hundred
    times as long. The first one found is the one that is imported."""
    found: dict[str, str] = {}
    for folder in folders:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            match = re.fullmatch(r"([A-Za-z0-9][\w.]*)-(\d[\w.!+]*?)(?:-py\d.*)?\.(?:dist|egg)-info", name)
            version = match[2] if match else ""
            if match is None and name.endswith(".egg-info"):
                # What is installed for its developers has no version in its name.
                match = re.fullmatch(r"([A-Za-z0-9][\w.]*)\.egg-info", name)
                version = _first_field(os.path.join(folder or ".", name, "PKG-INFO"), "Version") if match else ""
            if match and version and len(found) < _PACKAGES_MAX:
                found.setdefault(f"package:{match[1].lower().replace('_', '-')}", version)
    return dict(sorted(found.items()))
