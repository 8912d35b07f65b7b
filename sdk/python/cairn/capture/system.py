"""What the process and its machine are doing, as `system/…` series with a time and no step."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Optional

from cairn import critical

INTERVAL_S = 10.0
_GPU_S = 2.0
_GPU_FAILURES_MAX = 3
_GPU_FIELDS = ("index", "utilization.gpu", "memory.used", "memory.total", "temperature.gpu", "power.draw")

Log = Callable[[Mapping[str, float], Optional[Mapping[str, str]]], None]


def start_system_metrics(log: Log, *, whole_machine: bool, interval_s: float = INTERVAL_S) -> Callable[[], None]:
    """Logs until the returned function is called. The machine is measured by one process of it, for all."""
    stop = threading.Event()
    thread = threading.Thread(
        target=_measure, args=(log, whole_machine, interval_s, stop), name="cairn-system", daemon=True
    )
    thread.start()
    return stop.set


def _measure(log: Log, whole_machine: bool, interval_s: float, stop: threading.Event) -> None:
    meter = Meter(whole_machine)
    gpu_failures = 0
    while not stop.wait(interval_s):
        try:
            log(meter.read(), None)
            if whole_machine and gpu_failures < _GPU_FAILURES_MAX:
                gpus = read_gpus()
                gpu_failures = _GPU_FAILURES_MAX if gpus is None else 0 if gpus else gpu_failures + 1
                for index, values in gpus or []:
                    if not stop.is_set():
                        log(values, {"gpu": index})
        except Exception:
            # A failed measurement must not disturb the job.
            continue


class Meter:
    """Rates count from the reading before."""

    def __init__(self, whole_machine: bool) -> None:
        self._whole_machine = whole_machine
        self._at = time.monotonic()
        self._process_s = time.process_time()
        self._cpu = _cpu_ticks()
        self._network = _network_bytes()

    def read(self) -> dict[str, float]:
        now = time.monotonic()
        passed_s = max(1e-6, now - self._at)
        process_s = time.process_time()
        # 100 percent are one processor kept busy.
        values = {"system/cpu.process.percent": 100 * (process_s - self._process_s) / passed_s}
        self._process_s = process_s
        self._at = now
        rss = _resident_bytes()
        if rss is not None:
            values["system/memory.rss"] = rss
        if self._whole_machine:
            self._read_machine(values, passed_s)
        return values

    def _read_machine(self, values: dict[str, float], passed_s: float) -> None:
        cpu, self._cpu = self._cpu, _cpu_ticks()
        if cpu is not None and self._cpu is not None and self._cpu[1] > cpu[1]:
            values["system/cpu.percent"] = 100 * (self._cpu[0] - cpu[0]) / (self._cpu[1] - cpu[1])
        memory = _memory()
        if memory is not None:
            values["system/memory.used"] = memory[0]
            values["system/memory.percent"] = 100 * memory[0] / memory[1]
        try:
            disk = os.statvfs(".")
            values["system/disk.percent"] = 100 * (disk.f_blocks - disk.f_bfree) / disk.f_blocks
        except (OSError, ZeroDivisionError, AttributeError):
            pass
        network, self._network = self._network, _network_bytes()
        if network is not None and self._network is not None:
            for name, before, after in zip(("received", "sent"), network, self._network):
                # An interface that was removed takes its count with it.
                values[f"system/network.{name}"] = max(0, after - before) / passed_s


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20).splitlines()
    except OSError:
        return []


def _cpu_ticks() -> tuple[int, int] | None:
    """Busy and all."""
    lines = _lines("/proc/stat")
    if not lines or not lines[0].startswith("cpu "):
        return None
    # user nice system idle iowait irq softirq steal; guests are part of user.
    ticks = [int(count) for count in lines[0].split()[1:9]]
    return sum(ticks) - ticks[3] - (ticks[4] if len(ticks) > 4 else 0), sum(ticks)


def _memory() -> tuple[int, int] | None:
    """Used and all, in bytes."""
    sizes = {}
    for line in _lines("/proc/meminfo"):
        name, _, rest = line.partition(":")
        if name in ("MemTotal", "MemAvailable"):
            sizes[name] = int(rest.split()[0]) << 10
    if len(sizes) < 2 or not sizes["MemTotal"]:
        return None
    return sizes["MemTotal"] - sizes["MemAvailable"], sizes["MemTotal"]


def _resident_bytes() -> int | None:
    lines = _lines("/proc/self/statm")
    return int(lines[0].split()[1]) * os.sysconf("SC_PAGE_SIZE") if lines else None


def _network_bytes() -> tuple[int, int] | None:
    """Received and sent, over all interfaces but the loopback."""
    received = sent = 0
    lines = _lines("/proc/net/dev")[2:]
    for line in lines:
        name, _, rest = line.partition(":")
        counts = rest.split()
        if name.strip() != "lo" and len(counts) > 8:
            received += int(counts[0])
            sent += int(counts[8])
    return (received, sent) if lines else None


def read_gpus() -> list[tuple[str, dict[str, float]]] | None:
    """Each card with its values. None when there is no nvidia-smi; empty when it fails."""
    # Loading it takes longer than a first log() may take, and a fork must not happen meanwhile.
    with critical.loading:
        import subprocess
    try:
        answer = subprocess.run(
            ["nvidia-smi", f"--query-gpu={','.join(_GPU_FIELDS)}", "--format=csv,noheader,nounits"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_GPU_S,
            check=False,
        )
    except FileNotFoundError:
        return None
    except (OSError, subprocess.SubprocessError):
        return []
    return list(parse_gpus(answer.stdout.decode("utf-8", "replace"))) if answer.returncode == 0 else []


def parse_gpus(text: str) -> Iterator[tuple[str, dict[str, float]]]:
    """One card per line; a value that a card does not know is `[N/A]`."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(_GPU_FIELDS) or not cells[0].isdigit():
            continue
        found = {name: _number(cell) for name, cell in zip(_GPU_FIELDS, cells)}
        used, total = found["memory.used"], found["memory.total"]
        values = {
            "system/gpu.utilization": found["utilization.gpu"],
            "system/gpu.memory.used": None if used is None else used * (1 << 20),
            "system/gpu.memory.percent": None if used is None or not total else 100 * used / total,
            "system/gpu.temperature": found["temperature.gpu"],
            "system/gpu.power": found["power.draw"],
        }
        yield cells[0], {name: value for name, value in values.items() if value is not None}


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
