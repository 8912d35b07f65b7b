"""Heads of a tar archive, without owners and times: the same files make the same bytes, also in the TypeScript client."""

from __future__ import annotations

BLOCK = 512
_FILE, _LINK, _PAX = b"0", b"2", b"x"


def file_head(path: str, size: int, is_executable: bool) -> bytes:
    return _head(path, 0o755 if is_executable else 0o644, size, _FILE, "")


def link_head(path: str, target: str) -> bytes:
    return _head(path, 0o777, 0, _LINK, target)


def padding(size: int) -> bytes:
    """What follows so many bytes, up to the next block."""
    return bytes(-size % BLOCK)


#: What ends an archive.
END = bytes(2 * BLOCK)


def _head(path: str, mode: int, size: int, kind: bytes, target: str) -> bytes:
    split = _split(path)
    if split is not None and len(target.encode("utf-8")) <= 100:
        return _block(split, mode, size, kind, target.encode("utf-8"))
    # A path or target that does not fit is in a record of its own before.
    record = _record("path", path) + (_record("linkpath", target) if target else b"")
    stand_in = b"PaxHeader" if target else b""
    name = (b"PaxHeader", b"")
    before = _block(name, mode, len(record), _PAX, stand_in) + record + padding(len(record))
    return before + _block(name, mode, size, kind, stand_in)


def _split(path: str) -> tuple[bytes, bytes] | None:
    """Name and prefix, where they fit and are ASCII."""
    if not path.isascii():
        return None
    prefix, name = "", path
    while len(name) > 100:
        first, slash, rest = name.partition("/")
        if not slash:
            return None
        prefix, name = f"{prefix}/{first}" if prefix else first, rest
    return None if len(prefix) > 155 else (name.encode("ascii"), prefix.encode("ascii"))


def _record(key: str, value: str) -> bytes:
    """Its length counts its own digits."""
    body = f" {key}={value}\n".encode()
    length = len(body) + 1
    while len(str(length)) + len(body) > length:
        length += 1
    return str(length).encode("ascii") + body


def _block(name: tuple[bytes, bytes], mode: int, size: int, kind: bytes, target: bytes) -> bytes:
    block = bytearray(BLOCK)

    def put(at: int, value: bytes) -> None:
        block[at : at + len(value)] = value

    put(0, name[0])
    put(100, b"%06o " % mode)
    put(108, b"000000 ")
    put(116, b"000000 ")
    put(124, b"%011o " % size)
    put(136, b"00000000000 ")
    put(156, kind)
    put(157, target)
    put(257, b"ustar\x0000")
    put(329, b"000000 ")
    put(337, b"000000 ")
    put(345, name[1])
    # The sum counts itself as spaces.
    put(148, b"%06o " % (sum(block) + 8 * 32))
    return bytes(block)
