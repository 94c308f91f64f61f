#!/usr/bin/python3
"""S102: a name that the ceiling covers, and where it leads, change places
between the two judgements. In both modes each run shows what is covered, or is
refused; a ceiling that covers both places shows both.

CARREL_T_RACE is the number of runs of each race (check-long: 5,000)."""
import copy
from tap import *

ROUNDS = int(os.environ.get("CARREL_T_RACE", "200"))

if not IS_ROOT:
    skip("S102", "only root can make a ceiling")
    done()
with Place() as p:
    p.fs("race", "read = %s -> /opt/h" % HELPERS,
         "read = %s/W/a -> /opt/x" % p.top)
    for d, text in (("W/a", "GOOD"), ("secret", "CANARY")):
        p.write(p.top + "/%s/f" % d, text + "\n")
    SYS = "usr etc lib lib32 lib64 libx32 bin sbin".split()
    TEXT = "[everyone]\n" + "".join("read = /%s\n" % x for x in SYS) + \
        "read = %s\nread = %s/W\n" % (HELPERS, p.top)
    for to in (p.top + "/secret", "../secret", "../../../../../.." + p.top +
               "/secret"):
        os.path.lexists(p.top + "/W/alt") and os.unlink(p.top + "/W/alt")
        os.symlink(to, p.top + "/W/alt")
        seen = {}
        for text in (TEXT, TEXT + "read = %s/secret\n" % p.top):
            who = copy.copy(p)
            who.carrel = HELPERS + "/race"
            out = finish(who.start_etc(
                {"ceiling.conf": text}, "loop", str(ROUNDS),
                str(4 + ROUNDS // 50), "2000", "300", p.top + "/W/a",
                p.top + "/W/alt", CARREL, "run", "--no-defaults", "-p",
                "@sys", "-p", "race", "--", "/opt/h/race", "show",
                "/opt/x/f"), timeout=120).raw
            seen[text] = {"GOOD": 0, "CANARY": 0, "refused": 0, "else": 0}
            while out:
                head, out = out.split(b"\n", 1)
                count, code, o, e = map(int, head.split())
                got, why, out = out[:o], out[o:o + e], out[o + e:]
                for word in ("GOOD", "CANARY"):
                    if code == 0 and b"/opt/x/f: %s" % word.encode() in got:
                        seen[text][word] += count
                        break
                else:
                    good = code == OWN and b"goes beyond the ceiling" in why \
                        and b"leads to" in why
                    seen[text]["refused" if good else "else"] += count
        s, wide = seen.values()
        name = "S102 V012 a link to %s" % to.replace(p.top, "")
        ok(s["CANARY"] == 0 and s["GOOD"] > 0 and s["refused"] > 0,
           name + " between the judgements is refused: %s" % s, s)
        ok(wide["CANARY"] > 0 and wide["GOOD"] > 0,
           name + ": control: a ceiling that covers it: %s" % wide, wide)

    # whatever fails on the way to a refusal, it is none to a run
    if os.environ.get("CARREL_T_MODE") != "hosted":
        who = copy.copy(p)
        who.carrel = HELPERS + "/inject"
        RUN = (CARREL, "run", "--no-defaults", "-p", "@sys", "-p", "race",
               "--", "/opt/h/race", "show", "/opt/x/f")
        os.rename(p.top + "/W/a", p.top + "/W/good")
        os.symlink("../secret", p.top + "/W/a")
        r = finish(who.start_etc({"ceiling.conf": TEXT}, "all", "trace",
                                 p.top + "/log", *RUN))
        ok(r.code == OWN and "leads to" in r.err and "/opt/x" not in r.out,
           "S102 V026 control: it is refused by what was opened", r)
        with open(p.top + "/log") as f:
            calls = [x.split() for x in f]
        ok({x[0] for x in calls} == {"0", "1", "2", "3"} and
           any(x[0] == "3" and "read" in x[2] for x in calls),
           "S102 V026 control: both parsers are in the trace",
           {x[0] for x in calls},
           [x for x in calls if x[0] > "2"])
        jobs = [(w, nr, str(n)) for w, nr, name, count in calls
                for n in range(1, int(count) + 1)
                if name not in ("brk", "mmap", "munmap", "mremap", "mprotect",
                                "arch_prctl", "set_tid_address", "exit_group",
                                "exit", "rt_sigreturn", "umask")]
        # all of them with check-long, and some always
        jobs = rng().sample(jobs, min(len(jobs), ROUNDS))
        bad, t = [], time.monotonic()
        for at in range(0, len(jobs), 6):
            some = [(j, who.start_etc({"ceiling.conf": TEXT}, "all", "fail",
                                      *j, "1",
                                      *RUN)) for j in jobs[at:at + 6]]
            for j, x in some:
                r = finish(x, timeout=30)
                if r.code in (0, "timeout") or "/opt/x" in r.out:
                    bad.append("%s: %s" % (j, r))
        ok(not bad, "S102 V026 %d calls fail, one a run, and none runs: %.0f s"
           % (len(jobs), time.monotonic() - t), *bad[:5])
    ok(not gone(5), "no process is left", gone(0))
done()
