"""A server, as a program sees it: calls of the API as JSON or protobuf over HTTP/1.1 with one kept connection."""

from __future__ import annotations

import base64
import encodings.idna  # noqa: F401  Names of hosts need it, and a thread must not load it during a fork.
import http.client
import json
import os
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Union
from urllib.parse import quote, unquote, urlsplit

from cairn.failure import Failure
from cairn.login import Server, renew_local_secret
from cairn.watchdog import Watchdog

CALL_S_MAX = 30.0
ANSWER_BYTES_MAX = 64 << 20
_CHUNK = 1 << 20

_API_CODES = frozenset(
    """
    canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted
    failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated
    """.split()
)
#: Plain routes have their own codes; these are the codes of the API for their status.
_CODES = {
    400: "invalid_argument",
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    405: "unimplemented",
    409: "failed_precondition",
    411: "invalid_argument",
    413: "invalid_argument",
    414: "invalid_argument",
    415: "invalid_argument",
    422: "invalid_argument",
    429: "resource_exhausted",
}


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Client:
    """Calls raise Failure and nothing else. For one thread at a time; after a fork the copy reconnects."""

    def __init__(self, server: Server, *, timeout_s: float = CALL_S_MAX) -> None:
        self.url = server.url
        self._token = server.token
        self._timeout_s = timeout_s
        parts = urlsplit(server.url)
        self._is_tls = parts.scheme == "https"
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._is_tls else 80)
        self._base = parts.path
        self._authority = parts.netloc
        self._proxy = find_proxy(parts.scheme, self._host, self._port)
        self._connection: http.client.HTTPConnection | None = None
        self._watchdog = Watchdog()
        self._pid = os.getpid()

    def call(self, method: str, request: Mapping[str, Any], *, timeout_s: float | None = None) -> dict[str, Any]:
        """Calls `Service/Method` with a message as JSON."""
        body = json.dumps(request, ensure_ascii=True).encode("ascii")
        answer = self._post(method, body, "application/json", timeout_s)
        try:
            message = json.loads(answer.body)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise self._garbage()
        return message

    def call_binary(self, method: str, request: bytes, *, timeout_s: float | None = None) -> bytes:
        """The same with protobuf. An answer that is not of this API is refused: a captive portal answers 200, too."""
        answer = self._post(method, request, "application/proto", timeout_s)
        if answer.headers.get("content-type", "").split(";")[0].strip() != "application/proto":
            raise self._garbage()
        return answer.body

    def pages(
        self, method: str, request: Mapping[str, Any], field: str, *, timeout_s: float | None = None
    ) -> Iterator[Any]:
        """Everything of a list that comes in pages."""
        token = ""
        while True:
            message = self.call(method, {**request, "pageToken": token} if token else request, timeout_s=timeout_s)
            yield from message.get(field, [])
            following = message.get("nextPageToken", "")
            if not following or following == token:
                return
            token = following

    def _post(self, method: str, body: bytes, media_type: str, timeout_s: float | None) -> Answer:
        headers = {"content-type": media_type, "connect-protocol-version": "1"}
        answer = self.request("POST", f"/cairn.v1.{method}", body, headers, timeout_s=timeout_s)
        if answer.status != 200:
            raise self.failure(answer)
        return answer

    def request(
        self,
        verb: str,
        path: str,
        body: Union[bytes, Any, None] = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Answer:
        """Plain HTTP with the credential of this client; follows no redirect. `body` may be an open file, which is
        sent as it is read: then say its content-length."""
        answer = self._try(verb, path, body, headers, timeout_s)
        renewed = renew_local_secret(Server(self.url, self._token)) if answer.status == 401 else None
        if renewed is None:
            return answer
        self._token = renewed.token
        # A file has been read by now; its upload is tried again later.
        return self._try(verb, path, body, headers, timeout_s) if isinstance(body, (bytes, type(None))) else answer

    def _try(
        self,
        verb: str,
        path: str,
        body: Union[bytes, Any, None],
        headers: Mapping[str, str] | None,
        timeout_s: float | None,
    ) -> Answer:
        self._notice_fork()
        limit_s = self._timeout_s if timeout_s is None else timeout_s
        reused = self._connection is not None
        try:
            return self._exchange(verb, path, body, headers or {}, limit_s)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self.close()
            if not reused or not isinstance(body, (bytes, type(None))):
                raise self._unreachable(error) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise self._unreachable(error) from error
        # A kept connection that the server had closed meanwhile: every call here may be repeated.
        try:
            return self._exchange(verb, path, body, headers or {}, limit_s)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise self._unreachable(error) from error

    def _exchange(self, verb: str, path: str, body: Any, headers: Mapping[str, str], limit_s: float) -> Answer:
        connection = self._connect(limit_s)
        said = {"host": self._authority, "accept": "*/*", **headers}
        if self._token is not None:
            said["authorization"] = f"Bearer {self._token}"
        target = self._base + path
        if self._proxy is not None and not self._is_tls:
            target = f"http://{self._authority}{target}"
            said.update(self._proxy.headers)
        # Every read has its own time limit; the watchdog also ends an answer that comes byte by byte.
        self._watchdog.watch(connection, limit_s)
        try:
            connection.request(verb, target, body, said)
            response = connection.getresponse()
            content = response.read(ANSWER_BYTES_MAX + 1)
            if len(content) > ANSWER_BYTES_MAX:
                raise http.client.HTTPException(f"the answer has more than {ANSWER_BYTES_MAX} bytes")
            found = {name.lower(): value for name, value in response.getheaders()}
            if response.will_close:
                self.close()
            return Answer(response.status, found, content)
        finally:
            self._watchdog.rest()

    def download(self, path: str, target: Any, *, timeout_s: float | None = None) -> Answer:
        """GETs content into an open file, piece by piece; the body of the answer is empty."""
        self._notice_fork()
        connection = self._connect(self._timeout_s if timeout_s is None else timeout_s)
        said = {"host": self._authority}
        if self._token is not None:
            said["authorization"] = f"Bearer {self._token}"
        try:
            connection.request("GET", self._base + path, None, said)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            if response.status != 200:
                raise self.failure(Answer(response.status, found, response.read(ANSWER_BYTES_MAX)))
            while True:
                piece = response.read(_CHUNK)
                if not piece:
                    break
                target.write(piece)
            return Answer(200, found, b"")
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            self.close()

    def _connect(self, limit_s: float) -> http.client.HTTPConnection:
        connection = self._connection
        if connection is None:
            host, port = (self._host, self._port) if self._proxy is None else (self._proxy.host, self._proxy.port)
            if self._is_tls:
                context = ssl.create_default_context(cafile=os.environ.get("CAIRN_CA_FILE"))
                connection = http.client.HTTPSConnection(host, port, timeout=limit_s, context=context)
                if self._proxy is not None:
                    connection.set_tunnel(self._host, self._port, dict(self._proxy.headers))
            else:
                connection = http.client.HTTPConnection(host, port, timeout=limit_s)
            connection.connect()
            self._connection = connection
            if connection.sock is not None:
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if connection.sock is not None:
            connection.sock.settimeout(limit_s)
        return connection

    def failure(self, answer: Answer) -> Failure:
        """The failure of an answer without success: an error of Connect, of a plain route, or garbage."""
        try:
            said = json.loads(answer.body)
        except ValueError:
            said = None
        retry_after_s = _seconds(answer.headers.get("retry-after"))
        if not isinstance(said, dict) or not isinstance(said.get("message"), str):
            if answer.status in (429, 502, 503, 504):
                message = f"cannot reach {self.url}: something on the way answered {answer.status}"
                return Failure("unavailable", message, retry_after_s=retry_after_s)
            return self._garbage(answer.status)
        detail: dict[str, Any] = said
        for entry in said.get("details") or []:
            if isinstance(entry, dict) and isinstance(entry.get("debug"), dict):
                detail = entry["debug"]
        facts = detail.get("facts")
        facts = {str(name): str(value) for name, value in facts.items()} if isinstance(facts, dict) else {}
        if "retry_after_ms" in facts:
            retry_after_s = _seconds(facts["retry_after_ms"], 0.001)
        code = str(said.get("code") or "")
        if code not in _API_CODES:
            code = _CODES.get(answer.status, "unavailable")
        message, hint = said["message"], str(detail.get("hint") or "")
        if code == "unauthenticated":
            # The server speaks of headers, because it does not know who asks.
            message = message[: -len(f" ({hint})")] if hint and message.endswith(f" ({hint})") else message
            hint = f"run `cairn login {self.url}`, or set CAIRN_TOKEN"
        return Failure(
            code,
            message,
            reason=str(detail.get("reason") or ""),
            hint=hint,
            facts=facts,
            retry_after_s=retry_after_s,
        )

    def _garbage(self, status: int = 200) -> Failure:
        self.close()
        return Failure(
            "unavailable",
            f"cannot use {self.url}: its answer {status} is not from a Cairn server",
            reason="GARBAGE",
            hint="check the address: another program may listen there, or a proxy may be in the way",
        )

    def _unreachable(self, error: Exception) -> Failure:
        cause = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        return Failure(
            "unavailable",
            f"cannot reach {self.url}: {cause}",
            reason="UNREACHABLE",
            hint="start one with `cairn serve`, or name another with CAIRN_SERVER",
        )

    def _notice_fork(self) -> None:
        # The parent keeps using the connection; closing the copy of its descriptor here does not affect it.
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._watchdog = Watchdog()
            self.close()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


class Proxy(NamedTuple):
    host: str
    port: int
    headers: tuple[tuple[str, str], ...]


def find_proxy(scheme: str, host: str, port: int, env: Mapping[str, str] | None = None) -> Proxy | None:
    """The proxy that the environment names for a server. This machine is always reached directly."""
    env = os.environ if env is None else env
    lower = {name.lower(): value for name, value in env.items() if value}
    # A web server sets HTTP_PROXY from an untrusted header "Proxy".
    given = lower.get(f"{scheme}_proxy") if scheme != "http" or "REQUEST_METHOD" not in env else env.get("http_proxy")
    given = given or lower.get("all_proxy")
    if not given or host in ("localhost", "::1") or host.startswith("127."):
        return None
    for rule in lower.get("no_proxy", "").replace(",", " ").split():
        name, _, rule_port = rule.partition(":") if rule.count(":") == 1 else (rule.strip("[]"), "", "")
        name = name.lower().lstrip("*").lstrip(".")
        if rule == "*" or (
            (not rule_port or rule_port == str(port)) and name and (host == name or host.endswith(f".{name}"))
        ):
            return None
    parts = urlsplit(given if "://" in given else f"http://{given}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    headers: tuple[tuple[str, str], ...] = ()
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers = (("proxy-authorization", f"Basic {base64.b64encode(secret).decode('ascii')}"),)
    return Proxy(parts.hostname, parts.port or 80, headers)


def artifact_path(run_id: str, name: str, step: int | None = None, kind: str = "") -> str:
    """Where the content of an artifact is, below the address of the server."""
    query = [f"step={step}"] if step is not None else []
    if kind:
        query.append(f"kind={kind}")
    path = f"/artifacts/{run_id}/{quote(name.encode('utf-8', 'replace'), safe='/')}"
    return f"{path}?{'&'.join(query)}" if query else path


def _seconds(value: str | None, unit: float = 1.0) -> float | None:
    try:
        return max(0.0, min(3600.0, float(value) * unit)) if value else None
    except ValueError:
        return None
