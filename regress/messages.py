#!/usr/bin/python3
"""messages.py [--write]: everything that carrel can say to a person.

Each text of two words or more in the sources (but for the usage, which is in
refusals.txt) is a line of
regress/golden/messages.txt, below the file that it is in; so a new one is
looked at before it is there. The words of them that no manual has are in
regress/golden/words.txt: plain English. A term of the trade belongs into a
manual, or out of the message."""
import glob
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = TOP + "/regress/golden/"
ONE = r'"(?:[^"\\\n]|\\.)*"'

# What a message does not say, and what it says instead.
VOICE = (
    (r"\b(invalid|illegal|bad value|malformed)\b",
     "say what is wrong with it"),
    (r"\b(please|sorry|oops)\b", "say what to do"),
    (r"\b(can't|don't|isn't|doesn't|won't)\b", "write it out"),
    (r"\b(error|failure|failed to|unable to)\b", "say what happened"),
    (r"!(?![/=])(?!$)", "no exclamation"),
    (r"[^.]\.$", "a message has no full stop"),
    (r"\b(we|I|our)\b", "carrel has no person"),
    (r"\b(foo|TODO|FIXME|XXX)\b", "to be written"),
    (r"\b(whitelist|blacklist|sanity)\b", "say what it does"),
)
# (file, a regular expression for the whole text): what is no message.
OTHER = (
    ("child/screen/import_firejail.c", r"; blacklist .*|; What firejail .*",
     "another program's words, in a comment of a profile"),
)


def literals(text):
    """The string literals of a C file, neighbours joined; a macro between or
    beside them is one %s."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"(?m)^#include.*$", " ", text)
    for m in re.finditer(r"(?:\b[A-Z_]{4,}\s+)?%s(?:\s*(?:\b[A-Z_]{4,}\s*)?%s)*"
                         r"(?:\s+[A-Z_]{4,}\b)?" % (ONE, ONE), text):
        parts = re.findall(r"%s|[A-Z_]+" % ONE, m[0])
        yield "".join(x[1:-1] if x[0] == '"' else "%s" for x in parts)


def count(text):
    return len([x for x in re.split(r"\s+|\\.", text)
                if re.fullmatch(r"[(\"]*[A-Za-z][a-z-]+[:;,.)\"]*", x)])


def messages():
    """file -> its texts, in their order, each once."""
    found = {}
    for path in sorted(p for d in ("parent", "ipc", "child/*") for p in
                       glob.glob("%s/%s/*.c" % (TOP, d))):
        name = os.path.relpath(path, TOP)
        with open(path) as f:
            texts = [t for t in literals(f.read()) if count(t) > 1 and
                     not t.startswith("usage: ")]
        if texts:
            found[name] = list(dict.fromkeys(texts))
    return found


def words(texts):
    plain = re.sub(r"%[-.*0-9]*(?:ll|l|z)?[a-z]|\\x..|\\.", " ",
                   "\n".join(texts))
    return set(re.findall(r"[a-z]{3,}", plain.lower()))


def manual_words():
    text = ""
    for path in glob.glob(TOP + "/man/*.[1-8]"):
        with open(path) as f:
            text += f.read()
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def known(word, manual):
    """In a manual, in this form or another one of the same word."""
    forms = {word, word + "s", word + "d", word + "ed", word + "ing"}
    for end in "s", "d", "ed", "es", "ing", "ly", "er":
        if word.endswith(end):
            base = word[:-len(end)]
            forms |= {base, base + "e", base + "s", base + "ing", base + "ed"}
    return any(x in manual for x in forms if len(x) > 2)


def differ(name, want):
    """Writes it, or says where it differs: 1 if it does."""
    if "--write" in sys.argv[1:]:
        with open(GOLDEN + name, "w") as f:
            f.write(want)
        return 0
    with open(GOLDEN + name) as f:
        have = f.read()
    new = sorted(set(want.split("\n")) - set(have.split("\n")))
    old = sorted(set(have.split("\n")) - set(want.split("\n")))
    for sign, lines in ("+", new), ("-", old):
        for x in lines[:20]:
            print("%s%s" % (sign, x))
    return want != have


def main():
    found = messages()
    texts = [t for f in found.values() for t in f]
    bad = 0
    for name, lines in found.items():
        for t in lines:
            if any(name == o[0] and re.fullmatch(o[1], t, re.S)
                   for o in OTHER):
                continue
            for rule, what in VOICE:
                m = re.search(rule, t)
                if m:
                    print("%s: %r: %s" % (name, m[0], what))
                    print("    %s" % t)
                    bad = 1
    if len(texts) < 500:
        sys.exit("messages.py finds next to nothing: it is wrong itself")
    bad |= differ("messages.txt", "".join(
        "== %s\n%s\n" % (name, "\n".join(lines))
        for name, lines in found.items()))
    manual = manual_words()
    new = differ("words.txt", "".join(
        x + "\n" for x in sorted(words(texts)) if not known(x, manual)))
    if bad or new:
        sys.exit("what carrel says has changed. Has each message what is "
                 "wrong, where, why, and\nwhat to do about it, in words that "
                 "a manual has? Then: regress/messages.py --write")


main()
