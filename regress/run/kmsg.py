"""What hosted mode's recorder writes, where the kernel's log is the only one."""
from tap import *

KEY, VALUE = r'([a-z-]+)', r'"((?:[^"\\]|\\x[0-9A-F]{2})*)"'


def is_the_log():
    return os.path.exists("/dev/kmsg") and not os.path.exists("/dev/log")


class Kmsg:
    """The kernel's own log, from now on, of this caller's runs."""

    def __init__(self):
        with root():
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)
        self.found = []

    def read(self):
        while True:
            try:
                line = os.read(self.fd, 8192).decode("utf-8", "replace")
            except BlockingIOError:
                return
            except BrokenPipeError:
                continue
            m = re.match(r'(\d+),.*;carrel\[(\d+)\]: (caller="\d+" .*)', line)
            if m:
                got = dict(re.findall(KEY + "=" + VALUE, m[3]))
                got["facility"] = int(m[1]) >> 3
                got["pid"] = int(m[2])
                got["when"] = line.split(",")[2]
                if got["caller"] == str(UID):
                    self.found.append(got)

    def records(self, last="over", of=None, seconds=10):
        """Up to the record that is the last of a run; of: the recorder's pid,
        or whose comes first, for the end of an earlier run may be late."""
        self.found = []

        def mine():
            self.read()
            pid = of or next((x["pid"] for x in self.found
                              if x.get("event") != "over"), None)
            return [x for x in self.found if x["pid"] == pid]
        until(lambda: any(x.get("event") == last for x in mine()), seconds)
        return mine()


