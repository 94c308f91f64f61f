#!/usr/bin/python3
"""A broker that lies or fails: no run without its word, and none that counts
as one after it broke off (S88, V034)."""
import shutil
from tap import *

with Place() as p:
    mine = p.top + "/inst"
    shutil.copytree(INST, mine)
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
    ok(not gone(3), "S64 nothing is left", sandboxed())
done()
