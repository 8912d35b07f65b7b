"""Lines of a log as they arrive, through the stream of the server."""

from __future__ import annotations

import http.client
import json
import random
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

from cairn.client import ANSWER_BYTES_MAX, Answer, Client
from cairn.failure import Failure
from cairn.login import Server, renew_local_secret

#: After this long a user at a terminal should see that the server is unavailable.
_PATIENCE_S = 15 * 60.0
#: A server sends something every 15 s, if only to show that the connection is alive: three are missing.
_SILENCE_S = 45.0
_PAUSE_S_MAX = 5.0
_HEAD = struct.Struct(">BI")
_END_OF_STREAM = 2


class _Silence(Exception):
    """Nothing has come for a while. Nothing is lost."""


class StreamClient(Client):
    """Reads answers of many messages: frames of Connect, each with its length."""

    def stream(self, method: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        body = json.dumps(request).encode("ascii")
        headers = {
            "content-type": "application/connect+json",
            "connect-protocol-version": "1",
            "host": self._authority,
        }
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        target = f"{self._base}/cairn.v1.{method}"
        if self._proxy is not None and not self._is_tls:
            target = f"http://{self._authority}{target}"
            headers.update(self._proxy.headers)
        try:
            connection = self._connect(_SILENCE_S)
            connection.request("POST", target, _HEAD.pack(0, len(body)) + body, headers)
            response = connection.getresponse()
            if response.status != 200:
                found = {name.lower(): value for name, value in response.getheaders()}
                raise self.failure(Answer(response.status, found, response.read(ANSWER_BYTES_MAX)))
            yield from self._messages(response)
        except TimeoutError as error:
            raise _Silence from error
        except (OSError, http.client.HTTPException) as error:
            # Before Python 3.10 a timeout of a socket is not a TimeoutError.
            if type(error).__name__ == "timeout":
                raise _Silence from error
            raise self._unreachable(error) from error
        finally:
            self.close()

    def _messages(self, response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
        while True:
            flags, size = _HEAD.unpack(_read(response, _HEAD.size))
            if size > ANSWER_BYTES_MAX:
                raise http.client.HTTPException(f"a message has {size} bytes")
            message = json.loads(_read(response, size) or b"{}")
            if flags & _END_OF_STREAM:
                error = message.get("error")
                if error is not None:
                    raise self.failure(Answer(500, {}, json.dumps(error).encode("ascii")))
                return
            yield message


def _read(response: http.client.HTTPResponse, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = response.read(size - len(data))
        if not piece:
            raise ConnectionResetError("the connection ended")
        data += piece
    return data


def follow_lines(
    server: Server, run_id: str, chosen: dict[str, Any], start: int, note: Callable[[str], None]
) -> Iterator[list[Any]]:
    """Lines until the run has ended and all of them have come. After a lost connection it continues with the next
    number, so that no line is missing or repeated."""
    from cairn.command.logs import after_damage

    stream = StreamClient(server)
    following = start
    lost_at = 0.0
    failures = 0
    while True:
        try:
            request = {"run": {"id": run_id}, "filter": chosen, "from": str(following)}
            for message in stream.stream("LogService/TailLog", request):
                if lost_at:
                    note("cairn: reconnected")
                lost_at, failures = 0.0, 0
                following = int(message.get("next", following))
                if message.get("lines"):
                    yield message["lines"]
            return
        except _Silence:
            continue
        except Failure as failure:
            if failure.reason == "LINES_DAMAGED":
                following = after_damage(failure, following, note)
                continue
            renewed = renew_local_secret(server) if failure.code == "unauthenticated" else None
            if renewed is not None:
                server, stream = renewed, StreamClient(renewed)
                continue
            if failure.code != "unavailable" and failure.retry_after_s is None:
                raise
            now = time.monotonic()
            if not lost_at:
                lost_at = now
                note(f"cairn: connection lost ({failure.args[0]}), retrying")
            elif now - lost_at > _PATIENCE_S:
                raise
            failures += 1
            pause_s = failure.retry_after_s or min(_PAUSE_S_MAX, 0.1 * 2 ** min(failures, 10))
            time.sleep(pause_s * random.uniform(0.5, 1.0))
