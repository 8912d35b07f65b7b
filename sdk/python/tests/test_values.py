from __future__ import annotations

import dataclasses
import decimal
import json
import math
from typing import Any

from cairn.messages import BOOL, INTEGER, NUMBER, TEXT
from cairn.record.buffer import Buffer
from cairn.record.flat import flatten
from cairn.record.metric_values import Media, expand
from cairn.record.values import cut_text, to_json, to_key, to_point
from cairn.wire import read_message
from tests.support import Case


class Scalar:
    """As numpy and torch have them."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        return self.value


class Array:
    """Known by its shape and by `tolist`."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.shape = (len(values), len(values[0])) if values and isinstance(values[0], list) else (len(values),)

    def item(self) -> Any:
        flat = self.values
        if len(flat) != 1:
            raise ValueError("only one element arrays can be converted")
        return flat[0]

    def tolist(self) -> list[Any]:
        return self.values


class Metric:
    def __init__(self, result: Any) -> None:
        self.result = result

    def update(self) -> None: ...
    def reset(self) -> None: ...
    def compute(self) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class BinaryROC(Metric): ...


class MulticlassPrecisionRecallCurve(Metric): ...


class MulticlassConfusionMatrix(Metric): ...


class BinaryAUROC(BinaryROC): ...


class MetricCollection(Metric):
    def items(self) -> Any:
        return self.result.items()


class ValuesTest(Case):
    def test_kinds(self) -> None:
        cases: list[tuple[Any, Any]] = [
            (0.5, (NUMBER, 0.5)),
            (3, (NUMBER, 3.0)),
            (2**53, (NUMBER, 2.0**53)),
            (2**53 + 1, (INTEGER, 2**53 + 1)),
            (10**400, (NUMBER, math.inf)),
            (True, (BOOL, True)),
            ("x", (TEXT, "x")),
            (Scalar(1.5), (NUMBER, 1.5)),
            (Scalar(True), (BOOL, True)),
            (Array([2]), (NUMBER, 2.0)),
            (decimal.Decimal("0.25"), (NUMBER, 0.25)),
        ]
        for given, expected in cases:
            self.assertEqual(to_point(given), expected, repr(given))
        for nothing in (None, object(), [1], {}, Array([1, 2]), lambda: 1, 1j, b"x"):
            self.assertIsNone(to_point(nothing), repr(nothing))

    def test_a_series_keeps_its_first_kind(self) -> None:
        buffer = Buffer({})
        with self.said() as said:
            for value in (1.0, True, 2**60, "text", "more"):
                buffer.add("k", value, 0, 0, None)
        columns = buffer.take()
        self.assertEqual([(column.kind, list(column.values)) for column in columns], [(NUMBER, [1.0, 1.0, 2.0**60])])
        self.assertEqual(said.getvalue().count("another kind"), 1)

    def test_keys_are_as_the_server_takes_them(self) -> None:
        self.assertEqual(to_key("a\nb\x7f"), "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}")
        self.assertEqual(to_key(""), "unnamed")
        self.assertEqual(to_key(5), "5")
        self.assertEqual(to_key("\ud800"), "?")
        self.assertLessEqual(len(to_key("é" * 600).encode()), 512)
        self.assertEqual(cut_text("é" * 10, 5), "éé")

    def test_params_keep_their_types(self) -> None:
        for value in (1, 1.0, "1", True, None, [1, 2.5, {"a": None}], 2**70, "é\u2028"):
            text, changed = to_json(value)
            self.assertEqual((repr(json.loads(text)), changed), (repr(value), ""))
        self.assertEqual(to_json((1, 2)), ("[1, 2]", ""))
        self.assertEqual(to_json(Scalar(3)), ("3", ""))
        self.assertEqual(to_json(Array([1, 2])), ("[1, 2]", ""))
        self.assertEqual(to_json(math.nan), ("NaN", ""))

    def test_values_that_are_not_json_become_text_and_are_marked(self) -> None:
        circular: list[Any] = []
        circular.append(circular)

        class Rude:
            def __repr__(self) -> str:
                raise RuntimeError("no")

        deep: Any = 1
        for _ in range(40):
            deep = [deep]
        for value in (object(), circular, Rude(), {(1, 2): 3}, b"x", deep, "x" * 70_000, {"a": {"b": object()}}):
            text, changed = to_json(value)
            self.assertIsInstance(json.loads(text), str)
            self.assertLessEqual(len(text.encode()), 64 << 10)
            self.assertNotEqual(changed, "")


class FlatTest(Case):
    def test_the_example_of_the_seed(self) -> None:
        @dataclasses.dataclass
        class Config2:
            foo: str = "bar"

        @dataclasses.dataclass
        class Config:
            i: int = 1
            f: float = 2.1
            s: str = "string"
            l: list[str] = dataclasses.field(default_factory=lambda: ["a", "b", "c"])
            cfg_list: list[Config2] = dataclasses.field(default_factory=lambda: [Config2("hello"), Config2("world")])
            cfg2: Config2 = dataclasses.field(default_factory=Config2)

        expected = {
            "i": 1,
            "f": 2.1,
            "s": "string",
            "l": ["a", "b", "c"],
            "cfg_list._0.foo": "hello",
            "cfg_list._1.foo": "world",
            "cfg2.foo": "bar",
        }
        self.assertEqual(flatten(Config()), expected)
        self.assertEqual(flatten(Config(), "a"), {f"a.{key}": value for key, value in expected.items()})

    def test_edges(self) -> None:
        self.assertEqual(flatten({}), {})
        self.assertEqual(flatten({"a": {}, "b": [], "c": None}), {"a": {}, "b": [], "c": None})
        self.assertEqual(flatten([1, 2], "k"), {"k": [1, 2]})
        self.assertEqual(flatten({"a": [[1], [2, {"x": 3}]]}), {"a._0": [1], "a._1._0": 2, "a._1._1.x": 3})
        self.assertEqual(flatten({"s": {3, 1, 2}}), {"s": [1, 2, 3]})
        self.assertEqual(flatten({"t": "text", "y": b"ab"}), {"t": "text", "y": b"ab"})
        own: dict[str, Any] = {}
        own["own"] = own
        self.assertEqual(len(flatten(own)), 1)


class MetricTest(Case):
    """Without torch: things that behave as the metrics of torchmetrics do."""

    def test_one_and_several_values(self) -> None:
        ((name, value),) = expand("acc", Metric(Scalar(0.5)))
        self.assertEqual((name, value.item()), ("acc", 0.5))
        several = dict(expand("acc", Metric(Array([0.1, 0.2, 0.3]))))
        self.assertEqual(several, {"acc/0": 0.1, "acc/1": 0.2, "acc/2": 0.3})
        self.assertEqual(dict(expand("m", Metric({"map": 0.5, "mar": 0.25}))), {"m/map": 0.5, "m/mar": 0.25})

    def test_a_collection(self) -> None:
        members = {"acc": Metric(0.5), "roc": BinaryROC((Array([0.0, 1.0]), Array([0.0, 1.0]), Array([1.0, 0.0])))}
        found = dict(expand("val", MetricCollection(members)))
        self.assertEqual(found["val/acc"], 0.5)
        self.assertIsInstance(found["val/roc"], Media)

    def test_curves_and_matrices_become_pictures(self) -> None:
        curve = (Array([0.0, 0.5, 1.0]), Array([0.0, 0.8, 1.0]), Array([math.inf, 0.5, 0.1]))
        ((name, media),) = expand("roc", BinaryROC(curve))
        self.assertEqual((name, media.kind), ("roc", "curve"))
        record = read_message(media.encode(name, 7))
        inner = read_message(record[12][0])  # type: ignore[arg-type]
        self.assertEqual((inner[1], inner[2], inner[3]), ([b"roc.json"], [7], [9]))
        content = json.loads(inner[5][0])  # type: ignore[arg-type]
        self.assertEqual(content["picture"], "roc")
        self.assertEqual((content["x"], content["y"]), ([0.0, 0.5, 1.0], [0.0, 0.8, 1.0]))
        self.assertEqual(content["thresholds"], [None, 0.5, 0.1])
        # Precision comes first there, and is drawn upwards.
        per_class = (
            [Array([1.0, 0.5]), Array([0.9, 0.4])],
            [Array([0.0, 1.0]), Array([0.1, 1.0])],
            [Array([1.0]), Array([1.0])],
        )
        curves = dict(expand("pr", MulticlassPrecisionRecallCurve(per_class)))
        self.assertEqual(curves["pr/1"].content["x"], [0.1, 1.0])
        self.assertEqual(curves["pr/1"].content["y"], [0.9, 0.4])
        ((_, matrix),) = expand("cm", MulticlassConfusionMatrix(Array([[5, 1], [2, 7]])))
        self.assertEqual((matrix.kind, matrix.content["counts"]), ("table", [[5, 1], [2, 7]]))
        self.assertEqual(matrix.content["picture"], "confusion_matrix")
        # The area is a number, though its class descends from the curve's.
        self.assertEqual(dict(expand("auc", BinaryAUROC(0.9))), {"auc": 0.9})

    def test_long_curves_keep_their_ends_and_say_so(self) -> None:
        values = [at / 99_999 for at in range(100_000)]
        ((name, media),) = expand("roc", BinaryROC((Array(values), Array(values), Array(values))))
        self.assertEqual((media.content["x"][0], media.content["x"][-1]), (0.0, 1.0))
        self.assertEqual(media.content["pointCount"], 100_000)
        self.assertLess(len(media.encode(name, 1)), 256 << 10)

    def test_a_metric_that_fails_is_reported_once(self) -> None:
        with self.said() as said:
            self.assertEqual(list(expand("acc", Metric(RuntimeError("not updated")))), [])
            self.assertEqual(list(expand("acc", Metric(RuntimeError("not updated")))), [])
        self.assertEqual(said.getvalue().count("not updated"), 1)
