"""What metric keys mean, and by which of them runs are judged."""

from __future__ import annotations

import os
from typing import Any

import cairn
from cairn.failure import Failure
from cairn.record.metric_values import Meaning, expand
from tests.support import Case, ServerCase, needs_server


class Metric:
    """As torchmetrics has them."""

    higher_is_better: Any = None
    plot_lower_bound: Any = None
    plot_upper_bound: Any = None

    def __init__(self, result: Any = 0.5) -> None:
        self.result = result

    def update(self) -> None: ...

    def reset(self) -> None: ...

    def compute(self) -> Any:
        return self.result


class MulticlassAccuracy(Metric):
    higher_is_better = True
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0


class BinaryF1Score(MulticlassAccuracy): ...


class MeanSquaredError(Metric):
    higher_is_better = False
    plot_lower_bound = 0


class OddMetric(Metric):
    higher_is_better = "yes"
    plot_lower_bound = float("nan")
    plot_upper_bound = True


class MeaningTest(Case):
    def test_a_class_says_what_its_values_mean(self) -> None:
        class F1(Metric):
            higher_is_better = True
            plot_lower_bound = 0.0
            plot_upper_bound = 1.0

        accuracy = Meaning("max", 0, 1, "accuracy")
        self.assertEqual(list(expand("a", MulticlassAccuracy())), [("a", accuracy), ("a", 0.5)])
        self.assertEqual(
            list(expand("a", MulticlassAccuracy([0.5, 1.0]))),
            [("a/0", accuracy), ("a/0", 0.5), ("a/1", accuracy), ("a/1", 1.0)],
        )
        self.assertEqual(list(expand("a", F1()))[0], ("a", Meaning("max", 0, 1)))
        self.assertEqual(list(expand("a", MeanSquaredError()))[0], ("a", Meaning("min", 0)))
        self.assertEqual(list(expand("a", OddMetric())), [("a", 0.5)])
        # Of several values only each of them could have a meaning.
        self.assertEqual(list(expand("a", MulticlassAccuracy({"x": 1.0}))), [("a/x", 1.0)])


@needs_server
class DescribeTest(ServerCase):
    def keys(self, namespace: str = "") -> dict[str, dict[str, Any]]:
        found = self.api.call("MetricService/ListKeys", {"namespace": namespace or self.namespace})
        return {key["key"]: key for key in found.get("keys", [])}

    def test_a_program_describes_its_keys(self) -> None:
        with cairn.init() as run:
            run.log({"latency": 3.0})
            run.describe("latency", unit="ms", direction="min", min=0, max=9.5, description="p50", picture="line")
            with self.said() as said:
                run.describe("latency", direction="up")
                run.describe("latency", picture="cake")
            self.assertIn("is left out", said.getvalue())
        key = self.keys()["latency"]
        expected = {"unit": "ms", "direction": "DIRECTION_MINIMIZE", "description": "p50", "picture": "PICTURE_LINE"}
        self.assertEqual({name: key.get(name) for name in expected}, expected)
        self.assertEqual((key["min"], key["max"]), (0, 9.5))

    def test_a_metric_describes_itself_and_replaces_nothing(self) -> None:
        with cairn.init() as run:
            run.describe("val/acc", unit="%", max=0.9)
            self.assertTrue(run.flush())
            for step in range(3):
                run.log({"val": {"acc": MulticlassAccuracy(0.25), "mse": MeanSquaredError(2.0)}}, step=step)
        keys = self.keys()
        accuracy = keys["val/acc"]
        self.assertEqual((accuracy["unit"], accuracy["max"], accuracy["min"]), ("%", 0.9, 0))
        self.assertEqual((accuracy["direction"], accuracy["picture"]), ("DIRECTION_MAXIMIZE", "PICTURE_ACCURACY"))
        self.assertEqual((keys["val/mse"]["direction"], keys["val/mse"].get("max")), ("DIRECTION_MINIMIZE", None))
        self.assertEqual(self.api.series(self.api.run(self.namespace)["id"])["val/acc", ""]["values"], [0.25] * 3)

    def test_what_the_server_refuses_delays_nothing(self) -> None:
        with self.said() as said, cairn.init() as run:
            # A range that ends before it begins.
            run.describe("loss", min=1, max=0)
            run.log({"loss": 0.5})
            self.assertTrue(run.flush())
        self.assertIn("the server refuses the description of a key", said.getvalue())
        self.assertEqual(self.api.series(self.api.run(self.namespace)["id"])["loss", ""]["values"], [0.5])
        (frame,) = [path for spool in self.spools for path in (spool / "refused").glob("*.json")]
        self.assertIn('"what": "the description of a key"', frame.read_text())

    def test_the_objective_of_a_namespace(self) -> None:
        self.api.call("NamespaceService/CreateNamespace", {"path": self.namespace})
        cairn.set_objective(self.namespace, "val/acc", "max")
        found = self.api.call("NamespaceService/GetNamespace", {"path": self.namespace})
        self.assertEqual(found["objective"], {"metric": "val/acc", "direction": "DIRECTION_MAXIMIZE"})
        with self.assertRaises(ValueError):
            cairn.set_objective(self.namespace, "val/acc", "up")
        with self.assertRaises(Failure):
            cairn.set_objective(f"{self.namespace}/{os.urandom(3).hex()}x", "a", "min", server="http://127.0.0.1:1")
