#!/usr/bin/python3
"""A broker that lies or fails: no run without its word, and none that counts
as one after it broke off (S88, V034)."""
import shutil
from tap import *

with Place() as p:
    mine = p.top + "/inst"
    own_copy(mine)
    libexec = mine + "/libexec/carrel"
    p.profile("net", "[profile]\ndescription = test\n[egress]\n"
              "allow = tcp://a.example:7\nallow = tcp://*.b.example:7\n")
    NET = ("run", "-p", "net", "--", "sh", "-c", "echo %s; sleep 0.3" % MARK)
    r = p.do(*NET)
    ok(r.code == 0 and r.out == MARK + "\n" and not r.err,
       "V034 control: with carrel's own", r)
    p.carrel = mine + "/bin/carrel"
    shutil.copy(HELPERS + "/badbroker", libexec + "/carrel-broker")

    def lie(mode, *argv):
        with open(libexec + "/mode", "w") as f:
            f.write(mode + "\n")
        return p.do(*(argv or NET), timeout=30)
    r = lie("honest")
    ok(r.code == 0 and r.out == MARK + "\n" and not r.err,
       "V034 control: one that does not lie", r)
    for mode, has in (
            ("deaf", "ended before it was ready"),
            ("quiet", "ended before it was ready"),
            ("garbage", "Bad message"), ("empty", "Bad message"),
            ("other", "Bad message"), ("twice", "Bad message"),
            ("long", "Bad message"), ("attached", "Bad message"),
            ("why", r"no \x1b[31mname server\x0a\xe2\x80\xaex")):
        r = lie(mode)
        ok(r.code == OWN and MARK not in r.out and has in r.err and
           r.err.count("\n") == 1 and r.secs < 4,
           "V034 a broker that says %s: no run" % mode, r)
    for mode, has in (
            ("fails", "ended with 1 while it was needed"),
            ("event-garbage", "a bad event"),
            ("event-attached", "a bad event")):
        r = lie(mode)
        ok(r.code == OWN and has in r.err and r.secs < 4,
           "S88 %s: the run counts as failed" % mode, r)
    r = lie("stays")
    ok(r.code == OWN and MARK in r.out and r.secs < 6,
       "S88 a broker that does not end: a bounded wait", r)
    r = lie("flood")
    ok(r.code == 0 and MARK in r.out and r.secs < 20 and
       "100000 violations" in r.err and r.err.count("\n") < 20,
       "S75 V035 100,000 events are counted", r)
    r = lie("notes", "run", "-v", "-p", "net", "--", "sh", "-c", "sleep 0.3")
    ok(r.code == 0 and "profiles grant" not in r.err and r.secs < 20 and
       r.err.count("tcp 192.0.2.1:") == 10 and "and 246 others" in r.err,
       "S75 V035 100,000 notes are no violations, and bounded", r)
    # who speaks for the broker gets no other address from the factory (S81)
    r = lie("factory")
    want = ["198.19.0.9 80 tcp: ", "198.19.0.9 80 udp: ",
            "fd63:6172:7265:6c00::c613:9 443 tcp: ", "198.19.0.9 80 tcp: ",
            "192.0.2.1 80 tcp: ", "127.0.0.1 80 tcp: ", ":: 80 tcp: ",
            "2001:db8::1 53 udp: ", "198.19.0.10 80 tcp: "]
    no = "Permission denied"
    said = [x for x in r.err.splitlines() if not x.startswith("carrel: ")]
    equal(said[:8], [a + b for a, b in zip(want, (
        "made", "made", "made", "made", no, no, no, no))],
        "S81 the socket factory makes sockets at carrel's own addresses", r)
    ok(said[8] in (want[8] + "Broken pipe",
                   want[8] + "Connection reset by peer"),
       "V034 what is no question ends it", r)
    ok(r.code == OWN and "the socket factory" in r.err,
       "S88 and a run without it counts as failed", r)
    p.profile("net", "[profile]\ndescription = test\ntier = unrestricted\n"
              "[egress]\nallow = *\n")
    r = lie("factory")
    said = [x for x in r.err.splitlines() if not x.startswith("carrel: ")]
    equal([x.rsplit(": ", 1)[1] for x in said[:8]], ["made"] * 8,
          "control: with allow = * at any", r)
    ok(not gone(3), "S64 nothing is left", sandboxed())
done()
