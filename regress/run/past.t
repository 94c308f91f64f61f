#!/usr/bin/python3
"""A run that has ended (S76, S93): carrel violations --run answers what it was
allowed to reach and what it tried, carrel why --run why that was refused and
what would let it through, for a person and for a program."""
import json
from tap import *

with Place() as p:
    p.profile("r", "[profile]\ndescription = d\n[fs]\nread = /usr/share -> /s\n"
              "[exec]\ninterpreter = /usr/bin/env\ninterpreter = %s\n"
              "[audit]\nreport = fs\nreport = exec\n"
              "[egress]\nallow = https://a.example:443\n" %
              os.path.realpath("/usr/bin/python3"))
    p.profile("giver", "[profile]\ndescription = d\n[fs]\n"
              "write = {home}/out -> /s\n"
              "[egress]\nallow = https://b.example:443\n")
    r = p.do("run", "-p", "r", "--", "/usr/bin/python3", "-c",
             "import os, socket\n"
             "def attempt(f, *a):\n"
             "    try: f(*a)\n"
             "    except OSError as e: pass\n"
             "attempt(open, '/s/new', 'w')\n"
             "attempt(socket.getaddrinfo, 'b.example', 443)\n"
             "attempt(os.execv, '/usr/bin/id', ['id'])\n")
    got = json.loads(p.do("violations", "--json").out)["runs"]
    ok(r.code == 0 and len(got) == 1, "control: there is such a run", r, got)
    run = got[0]["run"]

    r = p.do("violations", "--run", run)
    ok(r.code == 0 and all(x in r.out for x in (
        "/s/new", "name b.example", "/usr/bin/id", "\nALLOWED",
        "read = /usr/share -> /s", "allow = https://a.example:443",
        "@sys:", "interpreter = /usr/bin/env", "r:4")),
       "S76 what it was allowed, and what it tried", r)
    j = json.loads(p.do("violations", "--run", run, "--json").out)
    mine = [x for x in j["profiles"] if x["name"] == "r"][0]["allowed"]
    ok({"section": "egress", "key": "allow", "line": 12,
        "value": "https://a.example:443"} in mine and
       all(x["section"] in ("fs", "egress", "exec", "limits",
                            "environ.inherit") for x in mine),
       "S93 --json has it, too", mine)

    def why(*subject, code=0):
        r = p.do("why", "--run", run, *subject)
        j = p.do("why", "--json", "--run", run, *subject)
        ok(r.code == j.code == code, "S93 why --run %s: exit %d" % (
            " ".join(subject), code), r)
        if code == 0:
            o = json.loads(j.out)
            flat = re.sub(r"\s+", "", r.out)
            ok(o["v"] == 1 and o["run"] == run and o["granted"] is False and
               j.out.count("\n") == 1 and
               all(re.sub(r"\s+", "", row[k]) in flat for b in o["blocks"]
                   for row in b["rows"] for k in ("tag", "text", "by")),
               "S93 why --run --json: the same rows", r, o)
        return r

    r = why()
    ok(r.out.count("\nREFUSED") + r.out.startswith("REFUSED") == 3 and
       "no other one widens" in re.sub(r"\s+", " ", r.out),
       "S93 all that was refused", r)
    r = why("/s/new")
    ok("write = /s" in r.out and "giver: write = " in r.out and
       "b.example" not in r.out, "S93 a path: who would grant it, the line", r)
    ok("/s/new" in why("/s").out, "S93 what lies below", r)
    ok("giver: allow = https://b.example:443" in why("b.example").out and
       "giver: allow" in why("B.example.:443").out, "S93 a host", r)
    ok("nothing of this was refused" in re.sub(r"\s+", " ", why("/opt").out)
       and "nothing of this" in why("a.example").out,
       "S93 what was not refused", r)
    for bad, code in ((["$PATH"], OWN), (["a b"], OWN), (["/usr/"], OWN),
                      (["-p", "r", "/usr"], OWN), (["/a", "/b"], OWN),
                      (["--no-defaults", "/a"], OWN), (["-C", "/"], OWN)):
        r = p.do("why", "--run", run, *bad)
        ok(r.code == code and not r.out and r.err.startswith("carrel: "),
           "S93 why --run %s is refused" % " ".join(bad), r)
    for verb in ("why", "violations"):
        for none in ("0" * 32, "x", "../" + run, ""):
            r = p.do(verb, "--run", none)
            ok(r.code == 1 and not r.out and "no violations of run" in r.err,
               "S93 %s of no run: %s" % (verb, none), r)
    # what it was allowed then is not what a later version allows
    p.fs("r", "read = /etc")
    r = p.do("violations", "--run", run)
    ok(r.code == 0 and "/s/new" in r.out and "a.example" not in r.out and
       "not installed in that version" in re.sub(r"\s+", " ", r.out),
       "S76 a profile that has changed since", r)
    j = json.loads(p.do("violations", "--run", run, "--json").out)
    ok([x["allowed"] is None for x in j["profiles"] if x["name"] == "r"] ==
       [True], "S76 and for a program: null", j)
    p.profile("broken", "frob\n")
    ok(p.do("violations", "--run", run).code == 0,
       "S22 a bad file of another's takes nothing down")
done()
