#!/usr/bin/python3
"""Two views of one tree of the host: what is read-only by one name can be
written by another one, and whoever reads the screen is told (S54, S91)."""
import os
from tap import *

PART = "<- in part also writable, as "
WHOLE = "<- also writable as "


def row(text, path):
    """The row of FILESYSTEM of this path inside."""
    m = re.search(r"(?m)^  r[ow] +%s .*$" % re.escape(path), text)
    return m[0] if m else ""


with Place() as p:
    w = p.top + "/w"
    p.write(w + "/a/f", "old\n")
    p.write(w + "/a b/f", "old\n")
    p.write(w + "/bin/tool", "#!/bin/sh\necho TOOL\n", 0o755)
    p.write(w + "-other/f", "other\n")
    fs = ["read = %s/a" % w, "read = \"%s/a b\"" % w, "read = %s/bin" % w,
          "read = %s-other" % w]
    head = "[profile]\ndescription = test\n"
    tail = "[environ.merge]\nPATH = %s/bin\n" % w
    body = head + "[fs]\n" + "".join(x + "\n" for x in fs) + tail

    # alone there is one view, and no mark
    p.profile("r", body)
    r = p.wide("explain", "-p", "r", "--", "true")
    ok(r.code == 0 and "also writable" not in r.out and
       "writable from" not in r.out, "control: one view, no mark",
       r)
    r = p.sh("echo new > %s/a/f || cat %s/a/f" % (w, w), "-p", "r")
    ok(r.out == "old\n" and "Read-only" in r.err, "and it is read-only", r)

    # another profile has the tree above it, under another name
    p.profile("v", head + "[fs]\nwrite = %s -> /v\n" % w)
    r = p.wide("explain", "-p", "r", "-p", "v", "--", "true")
    ok(r.code == 0 and row(r.out, w + "/a").endswith(WHOLE + "/v/a") and
       row(r.out, '"%s/a b"' % w).endswith(WHOLE + '"/v/a b"') and
       row(r.out, w + "/bin").endswith(WHOLE + "/v/bin"),
       "S91 each row says where it can be written", r)
    ok("writable" not in row(r.out, w + "-other") + row(r.out, "/usr") +
       row(r.out, "/v"), "and no other row does", r)
    ok(re.search(r"element +%s/bin .*<- writable from inside" % w, r.out),
       "S54 so does the element of PATH", r)
    r2 = p.wide("explain", "-p", "v", "-p", "r", "--", "true")
    ok(r.out == r2.out, "S3 in any order", r2)
    script = "echo new > /v/a/f; cat %s/a/f; echo new > %s/a/f || echo no" % (
        w, w)
    r = p.sh(script, "-p", "r", "-p", "v")
    ok(r.out == "new\nno\n", "and so it is: written there, read here", r)
    r = p.do("run", "-v", "-p", "r", "-p", "v", "--", "true")
    ok("%s/a is read-only, but also writable as /v/a" % w in r.err,
       "run -v says so, too", r)
    r = p.do("run", "-p", "r", "-p", "v", "--", "true")
    ok(r.code == 0 and r.err == "", "a plain run does not", r)

    # the other way round: a part of what is read
    p.profile("r", head + "[fs]\nread = %s\n" % w)
    p.profile("v", head + "[fs]\nwrite = %s/a -> /v\n" % w)
    r = p.wide("explain", "-p", "r", "-p", "v", "--", "true")
    ok(row(r.out, w).endswith(PART + "/v"), "S91 a part of it", r)
    # at its own place the deepest mount decides: rw is drawn there
    p.profile("v", head + "[fs]\nwrite = %s/a\n" % w)
    r = p.wide("explain", "-p", "r", "-p", "v", "--", "true")
    ok(r.code == 0 and "also writable" not in r.out and
       row(r.out, w + "/a").startswith("  rw"), "by one name it is one view", r)
    # a read mount in both views
    p.profile("r", head + "[fs]\nread = %s/a\nread = %s/a -> /v/a\n" % (w, w))
    p.profile("v", head + "[fs]\nwrite = %s -> /v\n" % w)
    r = p.wide("explain", "-p", "r", "-p", "v", "--", "true")
    ok(r.code == 0 and "also writable" not in r.out,
       "protected in both views: no mark", r)
    r = p.sh("echo x > /v/a/f || mv /v/a /v/c || echo no", "-p", "r", "-p", "v")
    equal(r.out, "no\n", "and there is no way", r)
    # the target itself: a tool directory in it
    p.unprofile()
    p.write("tools/t", "#!/bin/sh\necho T\n", 0o755)
    p.profile("t", head + "[fs]\nread = {target}/tools -> /opt/t\n"
              "[environ.merge]\nPATH = /opt/t\n")
    r = p.wide("explain", "-p", "t", "--", "true")
    ok(row(r.out, "/opt/t").endswith(WHOLE + p.proj + "/tools") and
       re.search(r"element +/opt/t .*<- writable from inside", r.out),
       "S54 a directory of the target under another name", r)
    odd = p.proj + "/o\\ x"
    p.write(odd + "/tools/t", "x", 0o755)
    r = p.wide("explain", "-p", "t", "-C", odd, "--", "true")
    ok(row(r.out, "/opt/t").endswith(
        WHOLE + '"%s/o\\\\ x/tools"' % p.proj),
       "S92 a backslash in its name is escaped once", r)
    # and a shipped profile whose directory is the target
    p.write(p.home + "/.cargo/bin/t", "#!/bin/sh\necho T\n", 0o755)
    r = p.wide("explain", "-p", "@rust", "--", "true", cwd=p.home + "/.cargo")
    ok(r.code == 0 and "also writable" not in r.out and
       "writable from inside" not in r.out,
       "S33b @rust: its programs are read-only in the target, too", r)
done()
