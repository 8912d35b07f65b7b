"""The data needed to run it again: code, command, packages, machine. A part that fails is left out, with a note."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Callable, Iterator, Mapping

from cairn.capture.git import find_repository, read_git
from cairn.capture.known_secrets import known_secret_redactor
from cairn.capture.secret_args import redact_args
from cairn.capture.secret_names import is_secret_name
from cairn.capture.secrets import redact_text
from cairn.provenance import Code, encode_captured

#: It is captured beside the training and delivered when it is there, so git may take its time.
_GIT_S = 2.0
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


class Captured:
    """Collected part by part in a thread of its own; what is there can be taken at any time."""

    def __init__(
        self, chosen: frozenset[str], *, argv: list[str], folder: str, env: Mapping[str, str] | None = None
    ) -> None:
        self._env = dict(os.environ if env is None else env)
        self._argv = argv
        self._folder = folder
        self._missing = [name for name in ("host", "packages", "code") if name in chosen]
        self._environment: dict[str, str] = {}
        self._command: list[str] = []
        self._code: Code | None = None
        self._user = ""
        self.archive = ""

    def collect(self) -> None:
        """Takes about two seconds at most. Never raises."""
        parts: dict[str, Callable[[], None]] = {
            "host": self._add_host,
            "packages": lambda: self._environment.update(find_packages(sys.path)),
            "code": self._add_code,
        }
        for name in list(self._missing):
            try:
                parts[name]()
            except Exception as error:
                self.note(name, f"left out: {type(error).__name__}: {error}")
            self._missing.remove(name)

    def note(self, part: str, text: str) -> None:
        key = f"note:{part}"
        self._environment[key] = f"{self._environment[key]}; {text}" if key in self._environment else text

    def _add_host(self) -> None:
        self._user = _user_name(self._env)
        self._environment.update(_machine())
        self._environment.update(_variables(self._env))

    def _add_code(self) -> None:
        self._command = _redacted(self._argv)
        if len(self._command) < len(self._argv):
            self.note("command", f"cut off after {len(self._command)} words")
        code, notes = read_git(self._folder, _GIT_S)
        for text in notes:
            self.note("git", text)
        root = find_repository(self._folder)
        if code is not None and root is not None:
            inside = os.path.relpath(self._folder, root)
            if inside != "." and not inside.startswith(".."):
                self._environment["directory"] = inside.replace(os.sep, "/")
        self._code = code

    def encode(self, without_patch: str = "") -> bytes:
        """cairn.v1.Provenance. What is not there yet is said to be missing. `without_patch` is why the patch must not be
        kept."""
        missing = list(self._missing)
        environment, code, command = dict(self._environment), self._code, self._command
        for name in missing:
            environment[f"note:{name}"] = "left out: the run ended before it was collected"
        if "code" in missing:
            command = _redacted(self._argv)
            if code is None and find_repository(self._folder) is not None:
                code = Code(patch_left_out="the run ended before git answered")
        scrub = known_secret_redactor(self._env)
        if code is not None:
            code = code._replace(
                repository=scrub(code.repository),
                branch=scrub(code.branch),
                dirty_patch=scrub(code.dirty_patch),
                archive=self.archive,
            )
            if without_patch:
                code = code.without_patch(without_patch)
        return encode_captured(
            code=code,
            command=[scrub(word) for word in command],
            environment={name: scrub(value) for name, value in environment.items()},
            user=scrub(self._user),
        )


def _redacted(argv: list[str]) -> list[str]:
    words = [word.encode("utf-8", "replace").decode("utf-8")[:_ARGUMENT_CHARACTERS_MAX] for word in argv]
    left = _COMMAND_CHARACTERS_MAX
    kept: list[str] = []
    for word in words[:_ARGUMENTS_MAX]:
        left -= len(word)
        if left < 0:
            break
        kept.append(word)
    return redact_args(kept)


def _user_name(env: Mapping[str, str]) -> str:
    """Of the operating system. Inside a container the number may have no name."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError, AttributeError):
        named = next((env[name] for name in ("LOGNAME", "USER", "USERNAME") if env.get(name)), "")
        return named or (str(os.getuid()) if hasattr(os, "getuid") else "")


def _machine() -> dict[str, str]:
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


def _variables(env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
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
