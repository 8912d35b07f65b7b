"""Results by key, as TorchX's `ResultTracker` has them, kept as params and files of one run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from cairn.client import Client, artifact_path
from cairn.delivery.channel import Channel, new_writer
from cairn.delivery.files import FileKeeper
from cairn.delivery.spool import spool_folder
from cairn.failure import Failure
from cairn.login import find_server
from cairn.messages import encode_artifact, encode_create_run
from cairn.namespaces import check_namespace
from cairn.record.pending import envelopes, marked
from cairn.record.values import to_json, to_key

if TYPE_CHECKING:

    class ResultTracker:
        def put(self, key: int | str, **results: Any) -> None: ...
        def get(self, key: int | str) -> dict[str, Any]: ...

else:
    try:
        from torchx.runtime.tracking.api import ResultTracker
    except ImportError:

        class ResultTracker:
            """The same interface without TorchX."""

            def __getitem__(self, key):
                return self.get(key)

            def __setitem__(self, key, results):
                self.put(key, **results)


Key = Union[int, str]
_CONTENT_BYTES_MAX = 256 << 10
_WAIT_S = 10.0


class StoredFile(NamedTuple):
    content: bytes
    media_type: str


class CairnResultTracker(ResultTracker):
    """Records and files of the run `base`: `http://host:4700/langtech/asr/exp-7` is run `exp-7` of namespace `langtech/asr`.

    A record is a param of that run, under its key; putting it again replaces it as a whole. `put` returns once the server has
    it, or leaves it to the spool after a moment. Reading raises Failure when the server cannot be reached.
    """

    def __init__(self, base: str, *, token: str | None = None, wait_s: float = _WAIT_S) -> None:
        found = re.fullmatch(r"(?:([a-z]+://[^/]+))?/?(.*?)/*", base.strip(), re.IGNORECASE | re.DOTALL)
        path = found[2] if found else ""
        if path.startswith("results/"):
            path = path[len("results/") :]
        namespace, _, run = path.rpartition("/")
        if not run:
            raise ValueError(f'cannot use "{base}" as a base: write it as http://host:4700/team/project/run')
        self.namespace = check_namespace(namespace or os.environ.get("CAIRN_NAMESPACE") or "default")
        self.run = run
        server = find_server(found[1] if found else None, token)
        self._wait_s = wait_s
        self._client = Client(server, timeout_s=wait_s)
        self._files = FileKeeper()
        # Nothing says when a record is the last one.
        body = encode_create_run(namespace=self.namespace, name=run, aliases=(run,), status="finished")
        self._channel = Channel(server, spool_folder(), new_writer(), body, label=run, call_s_max=wait_s)

    def put(self, key: Key, **results: Any) -> None:
        pending = marked({to_key(key): to_json(results)})
        for body in envelopes(pending.parts()):
            self._channel.write(body)
        self._channel.wait(self._wait_s, patient=False)

    def get(self, key: Key) -> dict[str, Any]:
        """The record, or an empty one when there is none."""
        run = self._find()
        text = run.get("params", {}).get(to_key(key)) if run else None
        record = json.loads(text) if text is not None else {}
        return record if isinstance(record, dict) else {"value": record}

    def put_file(
        self,
        key: Key,
        content: bytes | str | os.PathLike[str],
        media_type: str = "",
        *,
        step: int | None = None,
        kind: str = "file",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Bytes, or the file at a path, with its media type: images and other files of training."""
        name = to_key(key)
        said = {to_key(field): to_json(value)[0] for field, value in (metadata or {}).items()}
        if isinstance(content, (bytes, bytearray, memoryview)) and len(content) <= _CONTENT_BYTES_MAX:
            body = bytes(content)
            record = encode_artifact(name, step=step, kind=kind, content=body, media_type=media_type, metadata=said)
            self._channel.write(record)
        elif isinstance(content, (bytes, bytearray, memoryview)):
            self._files.keep_bytes(self._channel, name, bytes(content), step, kind, media_type, said)
        else:
            self._files.keep(self._channel, name, os.fspath(content), step, kind, media_type, said)
        self._files.wait(self._wait_s)
        self._channel.wait(self._wait_s, patient=False)

    def get_file(self, key: Key, *, step: int | None = None) -> StoredFile | None:
        """None when there is none."""
        run = self._find()
        if run is None:
            return None
        answer = self._client.request("GET", artifact_path(run["id"], to_key(key), step))
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise self._client.failure(answer)
        return StoredFile(answer.body, answer.headers.get("content-type", ""))

    def _find(self) -> dict[str, Any] | None:
        ref = {"alias": self.run, "namespace": self.namespace}
        try:
            return self._client.call("RunService/GetRun", {"run": ref})
        except Failure as failure:
            if failure.code == "not_found":
                return None
            raise

    def close(self) -> None:
        """Delivers what is left."""
        self._channel.close(self._wait_s)
