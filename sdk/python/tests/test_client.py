from __future__ import annotations

import http.server
import json
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

from cairn.client import Client
from cairn.failure import Failure
from cairn.login import Server
from cairn.messages import encode_create_run
from cairn.wire import message, text
from tests.support import Case

RUN_ID = "0123456789abcdef0123456789abcdef"


class Hostile(socketserver.ThreadingTCPServer):
    """Answers each connection as the test defines."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer: Callable[[socket.socket, int], None], family: int = socket.AF_INET) -> None:
        self.address_family = family
        self.connections = 0
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                outer.connections += 1
                try:
                    answer(self.request, outer.connections)
                except OSError:
                    pass

        super().__init__(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        host = "[::1]" if self.address_family == socket.AF_INET6 else "127.0.0.1"
        return f"http://{host}:{self.server_address[1]}"


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def http_answer(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    said = {"content-length": str(len(body)), "content-type": "application/json", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in said.items()]
    return f"HTTP/1.1 {status}\r\n".encode() + "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class ClientTest(Case):
    def serve(self, answer: Callable[[socket.socket, int], None], family: int = socket.AF_INET) -> Hostile:
        server = Hostile(answer, family)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def always(self, data: bytes) -> Hostile:
        def answer(connection: socket.socket, _: int) -> None:
            while read_request(connection):
                connection.sendall(data)

        return self.serve(answer)

    def client(self, url: str, timeout_s: float = 5) -> Client:
        client = Client(Server(url, "secret"), timeout_s=timeout_s)
        self.addCleanup(client.close)
        return client

    def test_one_connection_serves_many_calls(self) -> None:
        server = self.always(http_answer(b'{"x": 1}'))
        client = self.client(server.url)
        for _ in range(5):
            self.assertEqual(client.call("S/M", {}), {"x": 1})
        self.assertEqual(server.connections, 1)

    def test_a_connection_that_was_closed_meanwhile_is_opened_again(self) -> None:
        def answer(connection: socket.socket, _: int) -> None:
            read_request(connection)
            connection.sendall(http_answer(b"{}"))
            # Closed silently, as a server does with a connection that was idle for long.

        server = self.serve(answer)
        client = self.client(server.url)
        for _ in range(3):
            client.call("S/M", {})
        self.assertEqual(server.connections, 3)

    def test_garbage_is_an_error_and_never_an_answer(self) -> None:
        answers = (
            b"",
            b"SSH-2.0-OpenSSH_9.2\r\n",
            http_answer(b"<html>Please log in</html>", content_type="text/html"),
            http_answer(b"[1]"),
            http_answer(b"\xff\xfe"),
            http_answer(b"", "204 No Content"),
            http_answer(b"", "302 Found", location="http://elsewhere/"),
            http_answer(b'{"message": 5}', "400 Bad Request"),
            b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 500 + b"\r\n",
            b"HTTP/1.1 abc\r\n\r\n",
        )
        for data in answers:

            def answer(connection: socket.socket, _: int, data: bytes = data) -> None:
                read_request(connection)
                connection.sendall(data)

            client = self.client(self.serve(answer).url)
            for call in (lambda c: c.call("S/M", {}), lambda c: c.call_binary("S/M", b"")):
                with self.assertRaises(Failure, msg=repr(data)) as caught:
                    call(client)
                self.assertIn("127.0.0.1", str(caught.exception))

    def test_a_page_that_says_200_acknowledges_nothing(self) -> None:
        from cairn.delivery.delivery import Delivery
        from cairn.delivery.segment import ENVELOPE, Frame

        created = message(1, text(1, RUN_ID))
        # An acknowledgement of another number, of none, and something that is not a message.
        for ack in (b"\x08\x07", b"", b"<html>"):

            def answer(connection: socket.socket, _: int, ack: bytes = ack) -> None:
                while True:
                    request = read_request(connection)
                    if not request:
                        return
                    body = created if b"CreateRun" in request else ack
                    connection.sendall(http_answer(body, content_type="application/proto"))

            client = self.client(self.serve(answer).url)
            delivery = Delivery(client, self.folder, encode_create_run(aliases=("a",)), label="x")
            with self.assertRaises(Failure, msg=repr(ack)) as caught:
                delivery.deliver(Frame(ENVELOPE, 1, b""))
            self.assertEqual(caught.exception.reason, "GARBAGE")

    def test_a_slow_answer_ends_at_the_deadline(self) -> None:
        def answer(connection: socket.socket, _: int) -> None:
            read_request(connection)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while True:
                connection.sendall(b"x")
                time.sleep(0.05)

        client = self.client(self.serve(answer).url, timeout_s=0.5)
        begun = time.monotonic()
        with self.assertRaises(Failure):
            client.call("S/M", {})
        # All of it would take more than an hour.
        self.assertLess(time.monotonic() - begun, 60)

    def test_silence_ends_at_the_deadline(self) -> None:
        client = self.client(self.serve(lambda connection, _: time.sleep(600)).url, timeout_s=0.3)
        begun = time.monotonic()
        with self.assertRaises(Failure) as caught:
            client.call("S/M", {})
        self.assertLess(time.monotonic() - begun, 60)
        self.assertEqual(caught.exception.code, "unavailable")

    def test_errors_have_code_reason_hint_and_facts(self) -> None:
        detail = {"reason": "SEQ_GAP", "hint": "send 2", "facts": {"expected": "2", "retry_after_ms": "1500"}}
        said = {"code": "failed_precondition", "message": "no", "details": [{"type": "x", "debug": detail}]}
        client = self.client(self.always(http_answer(json.dumps(said).encode(), "400 Bad Request")).url)
        with self.assertRaises(Failure) as caught:
            client.call("S/M", {})
        failure = caught.exception
        self.assertEqual((failure.code, failure.reason, failure.hint), ("failed_precondition", "SEQ_GAP", "send 2"))
        self.assertEqual((failure.facts["expected"], failure.retry_after_s), ("2", 1.5))
        self.assertEqual(str(failure), "no (send 2)")

    def test_ipv6(self) -> None:
        def answer(connection: socket.socket, _: int) -> None:
            request = read_request(connection)
            self.assertIn(b"host: [::1]:", request.lower())
            connection.sendall(http_answer(b'{"six": true}'))

        try:
            server = self.serve(answer, socket.AF_INET6)
        except OSError:
            self.skipTest("this machine has no IPv6")
        self.assertEqual(self.client(server.url).call("S/M", {}), {"six": True})

    def test_through_a_proxy(self) -> None:
        seen: list[bytes] = []

        def answer(connection: socket.socket, _: int) -> None:
            seen.append(read_request(connection))
            connection.sendall(http_answer(b'{"by": "proxy"}'))

        proxy = self.serve(answer)
        environment = {"http_proxy": proxy.url.replace("//", "//user:word@")}
        with mock.patch.dict("os.environ", environment):
            client = self.client("http://far.example:4700/base")
            self.assertEqual(client.call("S/M", {}), {"by": "proxy"})
        head = seen[0].decode()
        self.assertTrue(head.startswith("POST http://far.example:4700/base/cairn.v1.S/M HTTP/1.1\r\n"), head[:100])
        self.assertIn("proxy-authorization: Basic ", head)
        self.assertIn("host: far.example:4700", head)

    def test_tls_is_checked(self) -> None:
        certificate, key = self.folder / "cert.pem", self.folder / "key.pem"
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
            capture_output=True,
            check=False,
        )
        if made.returncode != 0:
            self.skipTest("there is no openssl")
        import ssl

        class Quiet(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: Any) -> None: ...

        server = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"https://127.0.0.1:{server.server_address[1]}"
        with self.assertRaisesRegex(Failure, "certificate"):
            self.client(url).call("S/M", {})
        with mock.patch.dict("os.environ", {"CAIRN_CA_FILE": str(certificate)}):
            self.assertEqual(self.client(url).call("S/M", {}), {})
