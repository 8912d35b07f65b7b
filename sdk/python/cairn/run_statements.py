"""What a program states about a run: its data, where it came from, and what its metrics mean."""

from __future__ import annotations

from cairn.messages import DIRECTION, PICTURE, encode_describe_key
from cairn.notices import warn
from cairn.provenance import References, encode_stated, join_reference
from cairn.record.collector import Collector
from cairn.record.metric_values import Meaning
from cairn.record.values import cut_text, to_key

_SOURCE_BYTES_MAX = 1 << 10
_TEXT_BYTES_MAX = 1 << 10
#: What `data` calls the fields of the provenance.
_ROLES = {
    "train": "training_data",
    "training_data": "training_data",
    "test": "test_data",
    "test_data": "test_data",
    "initial_state": "initial_state",
    "feature_pipeline": "feature_pipeline",
}


def role_field(role: str) -> str | None:
    """The field of the provenance that a role names; None for another text."""
    return _ROLES.get(role)


class Statements:
    """A part of `cairn.run.Run`. Nothing here raises: what is invalid is reported and left out."""

    namespace: str
    _collector: Collector
    _is_finished: bool
    _described: set[str]

    def source(self, source_id: str, artifact: str = "") -> None:
        """Says that this run was made from another run, or from anything else that has a name."""
        name = cut_text(str(source_id), _SOURCE_BYTES_MAX)
        if not name:
            warn("source", "a source has no name: it is left out")
            return
        with self._collector.lock:
            self._collector.pending.sources.append((name, cut_text(artifact, _SOURCE_BYTES_MAX)))

    def data(self, role: str, location: str, version: str | None = None, digest: str | None = None) -> None:
        """Data that the run uses, as "train", "test", "initial_state" or "feature_pipeline": a location, with its version or its
        SHA-256. What it was trained and tested on may be several."""
        field = role_field(role)
        if field is None:
            warn(f"role {role!r}", f'data "{location}" is left out: {role!r} is not one of {", ".join(_ROLES)}')
            return
        try:
            reference = join_reference(str(location), version, digest)
        except ValueError as error:
            warn(f"data {role}", f"{error}: it is left out")
            return
        self.provenance(**{field: reference})

    def provenance(
        self,
        *,
        initial_state: str | None = None,
        training_data: References = None,
        test_data: References = None,
        feature_pipeline: str | None = None,
        study: str | None = None,
        logs_location: str | None = None,
    ) -> None:
        """What `init` takes, when it is known later: texts replace, data are added."""
        self.state(
            encode_stated(
                initial_state=initial_state,
                training_data=training_data,
                test_data=test_data,
                feature_pipeline=feature_pipeline,
                study=study,
                logs_location=logs_location,
            )
        )

    def state(self, stated: bytes) -> None:
        """The same as cairn.v1.Provenance."""
        if self._is_finished:
            self._warn_finished("provenance")
        elif stated:
            with self._collector.lock:
                self._collector.pending.stated.append(stated)

    def describe(
        self,
        key: str,
        *,
        unit: str = "",
        direction: str = "",
        min: float | None = None,
        max: float | None = None,
        picture: str = "",
        description: str = "",
    ) -> None:
        """What a metric key means in the namespace of the run and below it: its unit, whether a "max" or a "min" is better, the
        range it can have, and its picture (line, accuracy, histogram, …). It replaces an earlier description."""
        if direction not in DIRECTION or picture not in PICTURE:
            warn(
                f"describe {key}",
                f'the description of "{key}" is left out: direction is one of {_words(DIRECTION)}, '
                f"picture one of {_words(PICTURE)}",
            )
            return
        self._describe(
            encode_describe_key(
                self.namespace,
                to_key(key),
                unit=cut_text(unit, _TEXT_BYTES_MAX),
                direction=direction,
                description=cut_text(description, _TEXT_BYTES_MAX),
                picture=picture,
                min=min,
                max=max,
            )
        )

    def _describe_metric(self, key: str, meaning: Meaning) -> None:
        """What the class of a metric says, once; it replaces nothing."""
        if key not in self._described:
            self._described.add(key)
            self._describe(meaning.encode(self.namespace, key))

    def _describe(self, request: bytes) -> None:
        if self._is_finished:
            self._warn_finished("describe")
            return
        with self._collector.lock:
            self._collector.pending.descriptions.append(request)

    def _warn_finished(self, what: str) -> None:
        raise NotImplementedError


def _words(choices: dict[str, int]) -> str:
    return ", ".join(f'"{name}"' for name in choices if name)
