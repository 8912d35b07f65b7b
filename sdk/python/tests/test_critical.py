from __future__ import annotations

import threading

from cairn.critical import Critical
from tests.support import Case


class CriticalTest(Case):
    def test_work_of_a_signal_handler_waits_for_the_end_of_the_stretch(self) -> None:
        critical = Critical()
        done: list[str] = []
        self.assertFalse(critical.defer(lambda: done.append("never")))
        with critical:
            with critical:
                self.assertTrue(critical.defer(lambda: done.append("first")))
                self.assertTrue(critical.defer(lambda: done.append("second")))
            self.assertEqual(done, [])
        self.assertEqual(done, ["first", "second"])
        with critical:
            pass
        self.assertEqual(done, ["first", "second"])

    def test_other_threads_are_not_affected(self) -> None:
        critical = Critical()
        entered, left = threading.Event(), threading.Event()

        def stay() -> None:
            with critical:
                entered.set()
                left.wait(10)

        thread = threading.Thread(target=stay)
        thread.start()
        entered.wait(10)
        # Signal handlers run on the main thread, and that one is free.
        self.assertFalse(critical.defer(lambda: None))
        left.set()
        thread.join()

    def test_sigterm_takes_effect_after_the_stretch(self) -> None:
        done = self.script(
            """
            import os, signal
            import cairn
            from cairn.critical import critical
            run = cairn.init(offline=True)
            with critical:
                os.kill(os.getpid(), signal.SIGTERM)
                print("inside", flush=True)
            print("never", flush=True)
            """,
        )
        self.assertEqual((done.returncode, done.stdout), (-15, "inside\n"), done.stderr)

    def test_a_fork_waits_while_modules_are_loaded(self) -> None:
        done = self.script(
            """
            import os, threading, time
            import cairn
            from cairn import critical
            run = cairn.init(offline=True)
            loaded = []
            begun = threading.Event()

            def load():
                with critical.loading:
                    begun.set()
                    time.sleep(0.3)
                    loaded.append(True)

            threading.Thread(target=load).start()
            begun.wait()
            pid = os.fork()
            if pid == 0:
                with critical.loading:
                    os._exit(0 if loaded else 9)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
            with critical.loading:
                print("both continue")
            """
        )
        self.assertEqual((done.returncode, done.stdout), (0, "both continue\n"), done.stderr)
