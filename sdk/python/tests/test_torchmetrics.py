"""With the real torchmetrics, where there is one."""

from __future__ import annotations

import json
import unittest
import urllib.request
from typing import Any

import cairn
from tests.support import ServerCase, needs_server

try:
    import torch
    import torchmetrics
    from torchmetrics import MetricCollection
    from torchmetrics.classification import (
        BinaryROC,
        MulticlassAccuracy,
        MulticlassConfusionMatrix,
        MulticlassPrecisionRecallCurve,
    )
except ImportError:
    torch = None


@needs_server
@unittest.skipIf(torch is None, "there is no torch and torchmetrics")
class TorchmetricsTest(ServerCase):
    def content(self, run_id: str, name: str) -> Any:
        with urllib.request.urlopen(f"{self.url}/artifacts/{run_id}/{name}", timeout=30) as answer:
            return json.loads(answer.read())

    def test_metrics_become_series_and_pictures(self) -> None:
        torch.manual_seed(0)
        scores, target = torch.rand(200, 3).softmax(1), torch.randint(3, (200,))
        mean = torchmetrics.MeanMetric()
        per_class = MulticlassAccuracy(3, average=None)
        collection = MetricCollection({"acc": MulticlassAccuracy(3), "confusion": MulticlassConfusionMatrix(3)})
        roc, curves = BinaryROC(), MulticlassPrecisionRecallCurve(3)
        mean.update(torch.tensor([1.0, 3.0]))
        per_class.update(scores, target)
        collection.update(scores, target)
        curves.update(scores, target)
        roc.update(scores[:, 0], (target == 0).int())
        with cairn.init() as run:
            run.log({"mean": mean, "acc": per_class, "val": collection, "roc": roc, "pr": curves}, step=5)
            run.log(
                {"tensor": torch.tensor(0.25, requires_grad=True), "half": torch.tensor(0.5, dtype=torch.float16)},
                step=5,
            )
        run_id = self.api.run(self.namespace)["id"]
        series = self.api.series(run_id)
        self.assertEqual(series["mean", ""]["values"], [2])
        self.assertEqual((series["tensor", ""]["values"], series["half", ""]["values"]), ([0.25], [0.5]))
        found = [series[f"acc/{at}", ""]["values"][0] for at in range(3)]
        self.assertEqual(found, per_class.compute().tolist())
        self.assertEqual(series["val/acc", ""]["values"], [collection.compute()["acc"].item()])
        matrix = self.content(run_id, "val/confusion.json")
        self.assertEqual(matrix["counts"], collection.compute()["confusion"].tolist())
        drawn = self.content(run_id, "roc.json")
        self.assertEqual((drawn["picture"], drawn["x"]), ("roc", roc.compute()[0].tolist()))
        precision, recall, _ = curves.compute()
        drawn = self.content(run_id, "pr/2.json")
        self.assertEqual((drawn["x"], drawn["y"]), (recall[2].tolist(), precision[2].tolist()))

    def test_metrics_say_what_their_values_mean(self) -> None:
        scores, target = torch.rand(50, 3).softmax(1), torch.randint(3, (50,))
        metrics = {
            "acc": torchmetrics.Accuracy(task="multiclass", num_classes=3),
            "f1": torchmetrics.F1Score(task="multiclass", num_classes=3),
            "mse": torchmetrics.MeanSquaredError(),
            "mean": torchmetrics.MeanMetric(),
        }
        metrics["acc"].update(scores, target)
        metrics["f1"].update(scores, target)
        metrics["mse"].update(scores[:, 0], scores[:, 1])
        metrics["mean"].update(1.0)
        with cairn.init() as run:
            run.log(metrics)
        found = self.api.call("MetricService/ListKeys", {"namespace": self.namespace}).get("keys", [])
        keys = {key["key"]: key for key in found}
        accuracy = keys["acc"]
        self.assertEqual((accuracy["direction"], accuracy["picture"]), ("DIRECTION_MAXIMIZE", "PICTURE_ACCURACY"))
        self.assertEqual((accuracy["min"], accuracy["max"]), (0, 1))
        self.assertEqual((keys["f1"]["direction"], keys["f1"]["max"]), ("DIRECTION_MAXIMIZE", 1))
        self.assertNotIn("picture", keys["f1"])
        self.assertEqual((keys["mse"]["direction"], keys["mse"].get("max")), ("DIRECTION_MINIMIZE", None))
        self.assertNotIn("mean", keys)

    def test_as_metadata_of_torchx(self) -> None:
        try:
            from cairn.torchx_tracker import create_tracker
        except ImportError:
            self.skipTest("there is no torchx")
        tracker = create_tracker(f"{self.url}/{self.namespace}")
        metric = torchmetrics.MeanMetric()
        for value in (1.0, 3.0):
            metric.update(value)
            tracker.add_metadata("job", lr=0.1, loss=metric)
        self.assertEqual(tracker.metadata("job"), {"lr": 0.1})
        run_id = self.api.run(self.namespace)["id"]
        self.assertEqual(self.api.series(run_id)["loss", ""]["values"], [1, 2])
        tracker.close()
