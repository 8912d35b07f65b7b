"""What a program states about its data."""

from __future__ import annotations

from tests.support import ServerCase, needs_server


@needs_server
class StatedTest(ServerCase):
    def test_what_is_stated_is_in_the_run(self) -> None:
        source = """
            import cairn
            run = cairn.init(
                capture=False, initial_state="s3://w@7", training_data=["s3://a", "s3://b@v1"],
                test_data="s3://t", feature_pipeline="git@h:t/f.git@4f2a91c", study="first", logs_location="s3://logs",
            )
            run.log({"loss": 1.0})
            run.data("train", "s3://c", version="v2")
            run.data("test", "s3://t2", digest="0A" * 32)
            run.data("initial_state", "s3://w", "8")
            run.data("val", "s3://x")
            run.data("train", "s3://x", version="a/b")
            run.provenance(study="second")
        """
        done = self.script(source)
        provenance = self.api.run(self.namespace)["provenance"]
        self.assertEqual(
            provenance,
            {
                "initialState": "s3://w@8",
                "trainingData": ["s3://a", "s3://b@v1", "s3://c@v2"],
                "testData": ["s3://t", f"s3://t2@sha256:{'0a' * 32}"],
                "featurePipeline": "git@h:t/f.git@4f2a91c",
                "study": "second",
                "logsLocation": "s3://logs",
            },
        )
        self.assertIn("'val' is not one of", done.stderr)
        self.assertIn('version "a/b"', done.stderr)

    def test_a_statement_is_merged_into_a_run_that_is_there(self) -> None:
        provenance = {"study": "old", "trainingData": ["s3://a"], "testData": ["s3://t"]}
        request = {"namespace": self.namespace, "aliases": ["shared"], "provenance": provenance}
        self.api.call("RunService/CreateRun", request)
        source = """
            import cairn
            run = cairn.init(alias="shared", capture=False, study="new", training_data="s3://b")
            run.data("train", "s3://a")
        """
        self.script(source)
        found = self.api.run(self.namespace)["provenance"]
        expected = {"study": "new", "trainingData": ["s3://a", "s3://b"], "testData": ["s3://t"]}
        self.assertEqual(found, expected)

    def test_a_run_that_is_continued_keeps_its_code(self) -> None:
        source = """
            import cairn, sys
            run = cairn.init(resume=sys.argv[1], capture=["host"], study="later")
            run.log({"loss": 1.0})
        """
        request = {"namespace": self.namespace, "provenance": {"code": {"commit": "c" * 40}, "user": "ada"}}
        run_id = self.api.call("RunService/CreateRun", request)["run"]["id"]
        self.script(source, run_id)
        found = self.api.run(self.namespace)["provenance"]
        self.assertEqual((found["code"], found["user"], found["study"]), ({"commit": "c" * 40}, "ada", "later"))
        self.assertTrue(found["environment"]["host"])
