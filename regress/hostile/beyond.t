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
    ok(not gone(5), "no process is left", gone(0))
done()
