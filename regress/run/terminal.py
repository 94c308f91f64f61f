"""A real terminal with a real shell in it, for terminal.t."""
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import tap


class Terminal:
    """bash on a pseudo-terminal, as the unprivileged user."""

    def __init__(self, env, cwd, argv=("/bin/bash", "--norc", "--noprofile",
                                       "-i")):
        env = dict(env, PS1="OUT> ", HISTFILE="/dev/null")
        self.buf = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                if tap.IS_ROOT:
                    os.setregid(tap.GID, tap.GID)
                    os.setreuid(tap.UID, tap.UID)
                os.execve(argv[0], list(argv), env)
            finally:
                os._exit(99)
        self.size(24, 80)

    def size(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.fd)

    def foreground(self):
        return struct.unpack("i", fcntl.ioctl(
            self.fd, termios.TIOCGPGRP, b"\0\0\0\0"))[0]

    def send(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.send(text + "\n")

    def _more(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.buf += data.decode("utf-8", "replace")
        return bool(data)

    def expect(self, regex, seconds=10):
        """Waits for it; what came before and it, taken off; else None."""
        end = time.monotonic() + seconds
        while True:
            m = re.search(regex, self.buf)
            if m:
                seen, self.buf = self.buf[:m.end()], self.buf[m.end():]
                return seen
            left = end - time.monotonic()
            if left <= 0:
                return None
            if not self._more(left) and not self.buf:
                return None
            if left < 0.05:
                return None

    def ask(self, text, regex, seconds=10):
        self.line(text)
        return self.expect(regex, seconds)

    def close(self):
        for n in (1, 9):
            try:
                os.killpg(self.pid, n)
            except OSError:
                pass
        os.close(self.fd)
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass
