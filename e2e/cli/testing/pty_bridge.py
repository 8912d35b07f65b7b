"""Runs a command in a pseudo-terminal and stands between it and a test.

Standard input has one JSON value per line: {"type": "text"} types, {"columns": 100, "rows": 30} changes the size,
{"kill": 15} sends a signal. Standard output is what the terminal was sent, byte for byte. The exit status is the
command's, or 128 and the signal's number.

    python3 pty_bridge.py COLUMNS ROWS COMMAND...
"""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios


def set_size(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    columns, rows, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    child, terminal = pty.fork()
    if child == 0:
        # Standard input is the terminal now; it may still have the size of none.
        set_size(0, columns, rows)
        os.execvp(command[0], command)
    set_size(terminal, columns, rows)
    begun = b""
    sources = [terminal, 0]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if terminal in ready:
            try:
                output = os.read(terminal, 65536)
            except OSError:
                break
            if not output:
                break
            os.write(1, output)
        if 0 in ready:
            piece = os.read(0, 65536)
            if not piece:
                sources = [terminal]
                continue
            *lines, begun = (begun + piece).split(b"\n")
            for line in lines:
                order = json.loads(line)
                if "type" in order:
                    os.write(terminal, order["type"].encode())
                elif "kill" in order:
                    os.kill(child, order["kill"])
                else:
                    set_size(terminal, order["columns"], order["rows"])
                    os.kill(child, signal.SIGWINCH)
    _, status = os.waitpid(child, 0)
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


main()
