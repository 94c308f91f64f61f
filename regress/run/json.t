#!/usr/bin/python3
"""--json of the screens (S92, S93): one object on one line, of the shape that
is documented, with the same content as the text."""
import json
import jsonschema
from tap import *

with open(INST + "/share/carrel/etc/carrel-explain.schema.json") as f:
    SCHEMA = json.load(f)
jsonschema.Draft202012Validator.check_schema(SCHEMA)
VALID = jsonschema.Draft202012Validator(SCHEMA)


def squeeze(text):
    return re.sub(r"\s+", "", text)


def explain(p, name, *options, code=0, **kw):
    """Both forms: the object, whose every string the text has, too."""
    r = p.do("explain", "--json", *options, **kw)
    ok(r.code == code and r.out.count("\n") == 1 and r.out.endswith("}\n"),
       "S93 %s: one line, exit %d" % (name, code), r)
    j = json.loads(r.out)
    bad = [e.message for e in VALID.iter_errors(j)]
    ok(not bad, "S93 %s: as the schema says" % name, bad[:3], r)
    text = p.wide("explain", *options, columns=60000, **kw)
    flat = squeeze(text.out)
    missing = [x for b in j["blocks"] for row in b["rows"]
               for x in [b["title"], b["text"], row["tag"], row["text"],
                         row["by"], row["mark"], *row["notes"]]
               if squeeze(x) not in flat]
    ok(not missing, "S93 %s: the text has all of it" % name, missing[:3])
    has = {squeeze(x) for b in j["blocks"] for row in b["rows"]
           for x in [row["tag"] + row["text"] + row["by"] + row["mark"],
                     *row["notes"]]}
    has |= {squeeze(b["title"] + b["text"]) for b in j["blocks"]}
    lines = [x for x in map(squeeze, text.out.split("\n"))
             if x and x not in has]
    ok(not lines, "S93 %s: and it has all of the text" % name, lines[:3])
    return j


def rows(j, title):
    return [row for b in j["blocks"] if b["title"] == title
            for row in b["rows"]]


with Place() as p:
    p.profile("m", "[profile]\ndescription = a \"quoted\" \\ word\nabuse = x\n"
              "include = @python\n[fs]\nread = /usr/share -> /s\n"
              "tmpfs = /scratch\ncommand = /usr/bin/env\n"
              "[environ.set]\nEDITOR = vi \"x\" \\ y\n"
              "[environ.inherit]\nGITHUB_TOKEN = yes\n"
              "[egress]\nallow = https://a.example:443\n"
              "[limits]\nopen-files = 64\n")
    j = explain(p, "the defaults", "--", "true")
    titles = [b["title"] for b in j["blocks"]]
    equal(titles, ["TARGET", "PROFILES", "FILESYSTEM", "COMMANDS", "NETWORK",
                   "ENVIRONMENT", "LIMITS", "CONFINEMENT", "NOT GRANTED"],
          "S91 all blocks, in their order")
    ok(j["refused"] is False, "S93 it is not refused", j["refused"])
    j = explain(p, "a profile of many keys", "-p", "m", "--", "sh", "-c",
                "echo \"a\" \\ b", env=dict(p.env, GITHUB_TOKEN="s3cret"))
    fs = {row["path"]: row for row in rows(j, "FILESYSTEM") if "path" in row}
    ok(fs["/s"]["source"] == "/usr/share" and fs["/s"]["tag"] == "ro" and
       "source" not in fs["/scratch"], "S93 path and source by themselves",
       fs["/s"])
    env = {row["name"]: row for row in rows(j, "ENVIRONMENT")
           if "name" in row}
    ok(env["EDITOR"]["value"] == 'vi "x" \\\\ y',
       "S93 a backslash in a value is two", env["EDITOR"])
    ok("value" not in env["GITHUB_TOKEN"] and "s3cret" not in json.dumps(j),
       "S57 a credential is not shown", env["GITHUB_TOKEN"])
    p.fs("no", "read = /srv/none/there")
    j = explain(p, "a refused policy", "-p", "no", "--", "true", code=OWN)
    ok(j["refused"] is True and j["blocks"][0]["title"] == "REFUSED" and
       j["blocks"][-1]["title"] == "REFUSED", "S90 it says so first and last",
       [b["title"] for b in j["blocks"]])
    j = explain(p, "one that is not known", "-p", "nosuch", code=OWN)
    r = p.do("run", "-n", "--json", "--", "true")
    ok(r.code == 0 and json.loads(r.out)["v"] == 1, "S93 run -n --json", r)
    r = p.do("run", "--json", "--", "echo", MARK)
    ok(r.code == OWN and MARK not in r.out and "--json" in r.err,
       "S93 a run itself has none", r)

    # --diff: what profiles change
    p.fs("d", "read = /usr/share -> /d")
    p.profile("e", "[profile]\ndescription = d\n[limits]\nopen-files = 64\n"
              "[environ.set]\nEDITOR = vi \\ x\n")
    r = p.wide("explain", "--diff", "-p", "d", "--", "true")
    fs = r.out.split("FILESYSTEM")[1].split("\n\n")[0]
    ok(r.code == 0 and re.search(r"(?m)^  \+ +ro /d from /usr/share +read d:4$",
                                 fs) and "/usr " not in fs,
       "S91 --diff has what a profile adds, and no other grant", r)
    ok(not re.search(r"(?m)^(NETWORK|LIMITS)", r.out),
       "S91 and no block that is the same", r)
    r = p.wide("explain", "--diff", "-p", "d", "-p", "e", "--", "true")
    ok(re.search(r"(?m)^  \+ +set EDITOR=vi \\\\ x ", r.out) and
       re.search(r"(?m)^  \+ +open-files 64 ", r.out),
       "S91 of two profiles both, escaped once", r)
    r = p.do("explain", "--diff", "-p", "@sys", "--", "true")
    ok(r.code == 0 and "  - " in r.out and "+ " in r.out and
       "FILESYSTEM" not in r.out, "S91 a default that is named changes nothing "
       "but how it was selected", r)
    r = p.do("explain", "--diff", "--no-defaults", "-p", "@sys", "--", "true")
    ok(r.code == 0 and "read @sys:" in r.out, "S91 against nothing", r)
    r = p.do("explain", "--diff", "--json", "-p", "d", "--", "true")
    j = json.loads(r.out)
    ok(not list(VALID.iter_errors(j)) and all(
        row["tag"] in "+-" for b in j["blocks"] for row in b["rows"]),
       "S93 --diff --json as the schema says", r)
    r = p.do("explain", "--diff", "-p", "no", "--", "true")
    ok(r.code == OWN and "no.profile" in r.err, "S90 --diff of one that is "
       "refused", r)
    for bad in (["explain", "--diff"], ["run", "--diff", "-p", "d", "true"]):
        r = p.do(*bad)
        ok(r.code == OWN and "--diff" in r.err and not r.out,
           "S91 %s is refused" % " ".join(bad), r)
    p.env["NO_COLOR"] = ""
    raw = p.wide("explain", "--json", "--", "true", env=dict(
        p.env, NO_COLOR="")).raw
    ok(b"\x1b" not in raw, "S91 no colour in it, on a terminal either")
done()
