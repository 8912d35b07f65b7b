from __future__ import annotations

import signal

from tests.support import ServerCase, dose, needs_server


@needs_server
class EndTest(ServerCase):
    """How a run ends with its process."""

    def status(self) -> str:
        return str(self.api.run(self.namespace)["status"]).replace("RUN_STATUS_", "").lower()

    def ends(self, body: str, expected: str, code: int) -> str:
        done = self.script(f"import cairn, os, signal, sys\nrun = cairn.init()\nrun.log({{'x': 1.0}})\n{body}\n")
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(self.status(), expected, done.stderr)
        self.assertEqual(self.spools, [])
        self.assertEqual(self.api.series(self.api.run(self.namespace)["id"])["x", ""]["values"], [1])
        return done.stderr

    def test_at_its_end(self) -> None:
        self.ends("", "finished", 0)

    def test_with_a_code(self) -> None:
        self.ends("sys.exit(3)", "failed", 3)

    def test_with_the_code_zero(self) -> None:
        self.ends("sys.exit(0)", "finished", 0)

    def test_by_an_exception(self) -> None:
        self.assertIn("RuntimeError: boom", self.ends("raise RuntimeError('boom')", "failed", 1))

    def test_by_an_exception_in_a_with_block(self) -> None:
        self.ends("with run:\n    raise KeyError('x')", "failed", 1)

    def test_by_control_c(self) -> None:
        self.ends("run.flush()\nos.kill(os.getpid(), signal.SIGINT)", "killed", -signal.SIGINT)

    def test_by_sigterm(self) -> None:
        self.ends("os.kill(os.getpid(), signal.SIGTERM)", "killed", -signal.SIGTERM)

    def test_by_sigterm_in_the_middle_of_logging(self) -> None:
        process = self.start(
            """
            import cairn
            run = cairn.init()
            for step in range(10_000_000):
                run.log({"x": float(step)}, step=step)
                if step == 5000:
                    print("going", flush=True)
            """
        )
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=30)
        self.assertEqual((process.returncode, complaints), (-signal.SIGTERM, ""))
        self.assertEqual(self.status(), "killed")
        values = self.api.series(self.api.run(self.namespace)["id"])["x", ""]["values"]
        self.assertGreater(len(values), 5000)
        self.assertEqual(values, list(range(len(values))))

    def test_handlers_of_others_are_called(self) -> None:
        body = """
def handler(number, frame):
    print("mine", flush=True)
    sys.exit(7)
signal.signal(signal.SIGTERM, handler)
run.finish()
run = cairn.init(alias="second")
run.log({"x": 1.0})
os.kill(os.getpid(), signal.SIGTERM)
"""
        done = self.script(f"import cairn, os, signal, sys\nrun = cairn.init(alias='first')\n{body}")
        self.assertEqual((done.returncode, done.stdout), (7, "mine\n"), done.stderr)
        runs = {run["aliases"][0]: run["status"] for run in self.api.runs(self.namespace)}
        self.assertEqual(runs, {"first": "RUN_STATUS_FINISHED", "second": "RUN_STATUS_FAILED"})

    def test_a_handler_that_continues_keeps_the_run_open(self) -> None:
        body = """
signal.signal(signal.SIGTERM, lambda number, frame: print("not now", flush=True))
import cairn
run = cairn.init()
run.log({"x": 1.0}, step=0)
os.kill(os.getpid(), signal.SIGTERM)
run.log({"x": 2.0}, step=1)
"""
        done = self.script(f"import os, signal\n{body}")
        self.assertEqual((done.returncode, done.stdout), (0, "not now\n"), done.stderr)
        self.assertEqual(self.status(), "finished")
        self.assertEqual(self.api.series(self.api.run(self.namespace)["id"])["x", ""]["values"], [1, 2])

    def test_an_ignored_sigterm_stays_ignored(self) -> None:
        done = self.script(
            "import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport cairn\nrun = cairn.init()\n"
            "os.kill(os.getpid(), signal.SIGTERM)\nrun.log({'x': 1.0})\n"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.status(), "finished")


@needs_server
class ForkTest(ServerCase):
    """Many processes and threads, one run."""

    def points(self) -> list[float]:
        info = self.api.run(self.namespace)
        self.assertEqual(info["status"], "RUN_STATUS_FINISHED")
        self.assertRegex(self.api.verify(info["id"])["verdict"], r"^(\d+) of \1 envelopes, 0 gaps$")
        return sorted(value for one in self.api.series(info["id"], "x").values() for value in one["values"])

    def test_a_forked_child_writes_beside_its_parent(self) -> None:
        done = self.script(
            """
            import cairn, os, sys
            run = cairn.init()
            for step in range(100):
                run.log({"x": float(step)}, step=step)
            children = []
            for child in range(3):
                pid = os.fork()
                if pid == 0:
                    for step in range(100):
                        run.log({"x": 1000.0 * (child + 1) + step}, step=1000 * (child + 1) + step)
                    sys.exit(0)
                children.append(pid)
            for pid in children:
                assert os.waitpid(pid, 0)[1] == 0
            for step in range(100, 200):
                run.log({"x": float(step)}, step=step)
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        expected = [*range(200), *(1000 * child + step for child in (1, 2, 3) for step in range(100))]
        self.assertEqual(self.points(), expected)
        self.assertEqual(len(self.api.verify(self.api.run(self.namespace)["id"])["writers"]), 4)
        self.assertEqual(self.spools, [])

    def multiprocessing(self, method: str) -> None:
        done = self.script(
            f"""
            import cairn, multiprocessing

            def work(start):
                run = cairn.init(alias="shared", rank=1 + start // 100) if {method!r} == "spawn" else globals()["run"]
                for step in range(start, start + 50):
                    run.log({{"x": float(step)}}, step=step)

            if __name__ == "__main__":
                multiprocessing.set_start_method({method!r})
                run = cairn.init(alias="shared")
                run.flush()
                processes = [multiprocessing.Process(target=work, args=(100 * at,)) for at in range(4)]
                for process in processes:
                    process.start()
                for process in processes:
                    process.join()
                    assert process.exitcode == 0
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.points(), [100 * at + step for at in range(4) for step in range(50)])
        self.assertEqual(self.spools, [])

    def test_children_of_multiprocessing_that_are_forked(self) -> None:
        self.multiprocessing("fork")

    def test_children_of_multiprocessing_that_are_spawned(self) -> None:
        self.multiprocessing("spawn")

    def test_a_fork_while_other_threads_log(self) -> None:
        """Locks that a thread holds at the moment of the fork would be held for ever in the child."""
        done = self.script(
            """
            import cairn, os, threading
            run = cairn.init()
            turns = [threading.Event() for _ in range(20)]

            def busy():
                for at, turn in enumerate(turns):
                    turn.wait()
                    for step in range(1000):
                        run.log({"busy": 1.0}, step=1000 * at + step)

            threads = [threading.Thread(target=busy) for _ in range(3)]
            for thread in threads:
                thread.start()
            for child, turn in enumerate(turns):
                turn.set()
                pid = os.fork()
                if pid == 0:
                    run.log({"x": float(child)}, step=child)
                    run.finish()
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
            for thread in threads:
                thread.join()
            """,
            timeout_s=120,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.points(), list(range(20)))

    def test_threads(self) -> None:
        done = self.script(
            """
            import cairn, threading
            run = cairn.init()

            def work(start):
                for step in range(start, start + 2000):
                    run.log({"x": float(step)}, step=step)

            threads = [threading.Thread(target=work, args=(at * 2000,)) for at in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            """
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.points(), list(range(16_000)))

    def test_ranks_start_at_once_and_share_a_run(self) -> None:
        source = """
            import cairn, os
            rank = int(os.environ["RANK"])
            run = cairn.init(params={"lr": 0.1})
            for step in range(20):
                run.log({"loss": rank + step / 100}, step=step)
            # The machine may be busy.
            run.finish(timeout_s=100)
        """
        in_all = dose(12, 64)
        common = {"WORLD_SIZE": str(in_all), "TORCHELASTIC_RUN_ID": f"rendezvous-{self.namespace}"}
        ranks = [self.start(source, RANK=str(rank), **common) for rank in range(in_all)]
        for rank, process in enumerate(ranks):
            _, complaints = process.communicate(timeout=120)
            self.assertEqual((process.returncode, complaints), (0, ""), f"rank {rank}")
        info = self.api.run(self.namespace)
        self.assertEqual((info["status"], info["params"]), ("RUN_STATUS_FINISHED", {"lr": "0.1"}))
        series = self.api.series(info["id"])
        self.assertEqual(len(series), in_all)
        for rank in range(in_all):
            self.assertEqual(series["loss", str(rank)]["values"], [rank + step / 100 for step in range(20)])
        self.assertEqual(len(self.api.verify(info["id"])["writers"]), in_all)
