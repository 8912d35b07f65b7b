"""What the tests share: separate folders, scripts in separate processes, and servers."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from cairn import notices

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(__file__).resolve().parents[1]
#: From 3.12 on Python warns of every fork beside threads.
QUIET = ("-W", "ignore::DeprecationWarning")
#: Decides generated cases; tools/dose.ts has the same.
SEED = int(os.environ.get("CAIRN_SEED", "1"))
_IS_LONG = os.environ.get("CAIRN_LONG") == "1"


def dose(small: int, whole: int) -> int:
    """How much of a campaign runs: all of it with `npm run test:long`."""
    return whole if _IS_LONG else small


def needs_server(case: Any) -> Any:
    """For tests that talk to the server whose address is in CAIRN_TEST_URL; e2e/python starts one."""
    return unittest.skipUnless(os.environ.get("CAIRN_TEST_URL"), "CAIRN_TEST_URL names no server")(case)


def needs_node(case: Any) -> Any:
    """For tests that start and kill servers themselves."""
    return unittest.skipUnless(os.environ.get("CAIRN_TEST_NODE"), "CAIRN_TEST_NODE names no node")(case)


class Case(unittest.TestCase):
    """Each test has its own home, spool and environment."""

    maxDiff = 600

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="cairn-py-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        kept = {
            name: value
            for name, value in os.environ.items()
            if not re.match(r"CAIRN_(?!TEST_)|TORCHX_|SLURM_|RANK$|WORLD_SIZE$|XDG_|.*_proxy$|.*_PROXY$", name)
        }
        self.env = {
            **kept,
            "HOME": str(self.folder),
            "CAIRN_SPOOL": str(self.folder / "spool"),
            "CAIRN_CAPTURE": "none",
            "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
        }
        if os.environ.get("CAIRN_TEST_URL"):
            self.env["CAIRN_SERVER"] = os.environ["CAIRN_TEST_URL"]
        patch = mock.patch.dict(os.environ, self.env, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        notices._warned.clear()

    @property
    def spools(self) -> list[Path]:
        spool = self.folder / "spool"
        return sorted(path for path in spool.iterdir() if path.is_dir()) if spool.is_dir() else []

    @contextlib.contextmanager
    def said(self) -> Iterator[io.StringIO]:
        """The output on standard error meanwhile."""
        stream = io.StringIO()
        with mock.patch.object(sys, "stderr", stream):
            yield stream

    def script(self, source: str, *argv: str, timeout_s: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs Python source in a separate process."""
        path = self.folder / f"script-{time.monotonic_ns()}.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return subprocess.run(
            [sys.executable, *QUIET, str(path), *argv],
            env={**os.environ, **env},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def start(self, source: str, *argv: str, **env: str) -> subprocess.Popen[str]:
        """The same, while the test continues; killed at its end."""
        path = self.folder / f"script-{time.monotonic_ns()}.py"
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, *QUIET, "-u", str(path), *argv],
            env={**os.environ, **env},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(_end, process)
        return process

    def eventually(self, condition: Callable[[], Any], timeout_s: float = 60) -> Any:
        """The first truthy answer, or a failure after the deadline."""
        until = time.monotonic() + timeout_s
        while True:
            answer = condition()
            if answer or time.monotonic() > until:
                self.assertTrue(answer, "the condition did not come true in time")
                return answer
            time.sleep(0.02)


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.communicate()


class Api:
    """Asks a server without the code under test."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/cairn.v1.{method}", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return dict(json.loads(answer.read()))

    def runs(self, namespace: str, query: str = "") -> list[dict[str, Any]]:
        return list(self.call("RunService/SearchRuns", {"namespace": namespace, "query": query}).get("runs", []))

    def run(self, namespace: str) -> dict[str, Any]:
        """The only run of a namespace."""
        runs = self.runs(namespace)
        assert len(runs) == 1, f"{len(runs)} runs in {namespace}"
        return self.call("RunService/GetRun", {"run": {"id": runs[0]["id"]}})

    def series(self, run_id: str, glob: str = "") -> dict[tuple[str, str], dict[str, Any]]:
        """Columns by key and rank, or the name of a forked process."""
        request = {"run": {"id": run_id}, "glob": glob, "pageSize": 1000}
        found = self.call("MetricService/ListSeries", request).get("series", [])
        keys = sorted({one["key"] for one in found})
        if not keys:
            return {}
        selectors = [{"run": {"id": run_id}, "key": key, "allLabels": True} for key in keys]
        read = self.call("MetricService/ReadSeries", {"series": selectors, "encoding": "ENCODING_NUMBERS"})
        columns = {}
        for one in read.get("series", []):
            values = one.get("texts") or one["values"].get("numbers") or one["values"].get("integers")
            labels = one.get("labels", {})
            columns[one["key"], labels.get("rank", labels.get("process", ""))] = {
                **one,
                "steps": one.get("steps", {}).get("numbers"),
                "values": values,
            }
        return columns

    def verify(self, run_id: str) -> dict[str, Any]:
        return self.call("SystemService/VerifyRun", {"run": {"id": run_id}})


class ServerCase(Case):
    """With the server of CAIRN_TEST_URL, and its own namespace."""

    def setUp(self) -> None:
        super().setUp()
        self.url = os.environ["CAIRN_TEST_URL"]
        self.api = Api(self.url)
        self.namespace = f"py/{os.urandom(5).hex()}x"
        os.environ["CAIRN_NAMESPACE"] = self.namespace


def _steady_port() -> int:
    """A port that is free and stays so: below those that the system gives to connections (see e2e/steady-port.ts)."""
    for tried in range(20_000):
        port = 10_000 + (os.getpid() * 101 + tried) % 20_000
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("there is no free port")


class OwnServer:
    """A server that a test may kill and start again at the same address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = str(_steady_port())
        self._process: subprocess.Popen[str] | None = None
        self.url = ""
        self.start()

    def start(self) -> None:
        """Does nothing when it is alive."""
        if self._process is not None:
            return
        command = [os.environ["CAIRN_TEST_NODE"], str(ROOT / "server" / "start.js"), "--log-level", "warn"]
        options = ["--port", self._port, "--data", str(self._folder / "data")]
        self._process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = re.match(r"Cairn is listening on (\S+)", line)
            if found:
                self.url = found[1]
                return
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None
