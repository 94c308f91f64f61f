#!/usr/bin/python3
"""R073: what of a home full of credentials each shipped profile shows."""
from tap import *

with open(SRC + "/child/screen/host.c") as f:
    KNOWN = re.findall(r'"(\.[^"/]+(?:/[^"]+)?)"', f.read().split(
        "known[] = {")[1].split("};")[0])
KNOWN += [".bash_history", ".python_history", ".mozilla/firefox/x/cookies.sqlite",
          ".config/google-chrome/Default/Cookies", ".ssh/id_ed25519"]
SECRET = "c4narY-of-the-home"

with Place() as p:
    ok(len(KNOWN) > 30 and ".netrc" in KNOWN, "R073 control: the list", KNOWN)
    for name in KNOWN:
        path = p.home + "/" + name
        if os.path.isdir(path):
            path += "/token"
        try:
            p.write(path, SECRET + "\n", 0o600)
        except (FileExistsError, NotADirectoryError):
            continue
    look = ("grep -rlsI %s \"$HOME\" /etc /run /tmp /root /home; echo %s" %
            (SECRET, MARK))
    planted = p.host("sh", "-c", look).out.count("\n") - 1
    ok(planted > 30, "R073 control: outside they are found", planted)
    shipped = sorted(f[:-8] for f in os.listdir(INST + "/share/carrel/profiles")
                     if f.endswith(".profile") and f != "TEMPLATE.profile")
    ok(len(shipped) > 5, "R073 control: there are profiles", shipped)
    for name in shipped:
        with open(INST + "/share/carrel/profiles/%s.profile" % name) as f:
            text = f.read()
        r = p.do("run", "-p", "@" + name, "--", "sh", "-c", look)
        seen = [x[len(p.home) + 1:] for x in r.out.split("\n")
                if x.startswith(p.home + "/")]
        ok(MARK in r.out or r.code == OWN, "R073 @%s: it can be asked" % name,
           r)
        said = [x for x in seen if any(
            part in text for part in (x, os.path.dirname(x) or x))]
        equal(sorted(set(seen) - set(said)), [],
              "R073 @%s shows no credential that it does not name" % name)
done()
