#!/usr/bin/python3
"""ipc-manual.py: carrel-ipc(7) says what the sources say: the names of the
records and of the control messages, the order tables, and the type of each
field in its place. Run from the top; says nothing if all is well."""
import re
import sys

MANUAL = "man/carrel-ipc.7"
# record: where it is written; the pattern begins there, "}" in column 0 ends
WRITERS = {
    "REQUEST": ("child/shared/request.c", r"^put_head\("),
    "SELECT": ("child/shared/request.c", r"RECORD_SELECT\), "),
    "CALLER": ("child/shared/caller.c", r"^caller_put\("),
    "REQUEST_END": None,
    "POLICY": ("child/shared/policy_wire.c", r"^put_head\("),
    "PROFILE": ("child/shared/policy_wire.c", r"^put_profile\("),
    "GRANT": ("child/shared/policy_wire.c", r"^put_grant\("),
    "REFUSAL": ("child/shared/policy_wire.c", r"^refusal_put\("),
    "POLICY_END": ("child/shared/policy_wire.c", r"^put_end\("),
    "SCREEN": ("child/shared/screen.c", r"^screen_put\("),
    "SURVEY": ("child/shared/survey.c", r"^survey_put\("),
    "EXEC": ("child/shared/survey.c", r"^survey_exec_put\("),
    "SCREEN_END": None,
    "EVENT": ("child/shared/event.c", r"^event_put\("),
    "ENVIRON": ("ipc/environ.c", r"^environ_put\("),
    "RULE": ("ipc/rule.c", r"^rule_put\("),
    "VARIABLE": ("child/shared/hostenv.c", r"^hostenv_put\("),
    "BROKER": ("child/shared/broker.c", r"^put_head\("),
    "BROKER_RULE": ("child/shared/broker.c", r"^put_rule\("),
    "BROKER_HOST": ("child/shared/broker.c", r"^put_host\("),
    "BROKER_SOCKET": ("child/shared/broker.c", r"^put_socket\("),
    "BROKER_END": ("child/shared/broker.c", r"^put_end\("),
    "READY": ("child/shared/broker.c", r"^put_ready\("),
    "RUN": ("child/shared/kept.c", r"^put_run\("),
    "KEPT_PROFILE": ("child/shared/kept.c", r"^put_kept_profile\("),
    "RUN_END": ("child/shared/kept.c", r"^put_run_end\("),
    "TOOL": ("child/shared/tool.c", r"^tool_put\("),
    "DESCRIBED_END": ("child/shared/tool.c", r"^put_end\("),
    "CATALOGUE": ("child/shared/catalogue.c", r"^put_head\("),
    "ITEM": ("child/shared/catalogue.c", r"^put_item\("),
    "LINE": ("child/shared/catalogue.c", r"^put_line\("),
    "FAULT": ("child/shared/catalogue.c", r"^put_fault\("),
    "CEILING": ("child/shared/ceiling.c", r"^put_head\("),
    "CEILING_LINE": ("child/shared/ceiling.c", r"^put_line\("),
    "CEILING_FAULT": ("child/shared/policy_wire.c", r"^refusal_put\("),
    "CEILING_END": ("child/shared/ceiling.c", r"^put_end\("),
    "CATALOGUE_END": ("child/shared/catalogue.c", r"^put_end\("),
    "LOGIN": ("child/shared/login.c", r"^put_login\("),
    "LOGIN_END": ("child/shared/login.c", r"^put_end\("),
}
WRITE = r"\bwbuf_(u8|u16|u32|u64|str)\("
bad = []


def text(name):
    with open(name) as f:
        return f.read()


def same(what, source, manual):
    if source != manual:
        bad.append("%s: the source has %s, %s has %s" % (
            what, source, MANUAL, manual))


def fields_written(record):
    if WRITERS[record] is None:
        return []
    name, start = WRITERS[record]
    src = text(name)
    at = re.search(start, src, re.M).start()
    if start.startswith("^"):
        return re.findall(WRITE, src[at:src.index("\n}", at)])
    line = src[src.rindex("\n", 0, at):src.index("\n", at)]
    return re.findall(WRITE, line)


def fields_told(man):
    told, now = {}, None
    for line in man.splitlines():
        cells = [c.strip() for c in line[4:].split(" Ta")]
        if re.match(r"\.It Dv RECORD_\w+ Ta Ta$", line):
            now = told.setdefault(cells[0].split("RECORD_")[1], [])
        elif line.startswith(".It ") and now is not None:
            now.append(cells[1])
        elif line == ".El":
            now = None
    return told


man = text(MANUAL)
enum = re.findall(r"^\tRECORD_(\w+)(?: = 1)?,", text("ipc/record.h"), re.M)
told = fields_told(man)
same("names of records", sorted(enum), sorted(told))
for record in enum:
    if record in told and record in WRITERS:
        same("fields of RECORD_" + record, fields_written(record),
             told[record])
    elif record not in WRITERS:
        bad.append("RECORD_%s: %s does not know it" % (record, sys.argv[0]))

rows = re.findall(r"^    \{RECORD_(\w+), (\w+), (\w+)\},", text("ipc/record.c"),
                  re.M)
same("order of records", rows, re.findall(
    r"^\.It Dv RECORD_(\w+) Ta (\d+) Ta (\w+)$", man, re.M))

control = re.findall(r"^\tCONTROL_(\w+)(?: = 1)?,",
                     text("child/setup/control.h"), re.M)
same("control messages", control,
     re.findall(r"^\.It Dv CONTROL_(\w+)$", man, re.M))
limits = {}
for name, value in re.findall(r"^#define\s+(\w+)\s+(\(.*\)|\w+)",
                              text("ipc/limits.h"), re.M):
    limits[name] = eval(re.sub(r"(?<=\d)U?L*\b", "", value), {}, limits)
for name, value in re.findall(r"^\.It Dv (\w+) Ta (\d+) Ta \w", man, re.M):
    if not name.startswith("RECORD_") or name == "RECORD_MAX":
        same(name, limits.get(name), int(value))
for name in set(re.findall(r"\b[A-Z]+_(?:BYTES_)?MAX\b", man)):
    if not re.search(r"^\.It Dv %s Ta \d" % name, man, re.M):
        bad.append("%s: its number is missing" % name)
for line in bad:
    print("ipc-manual: " + line, file=sys.stderr)
sys.exit(1 if bad else 0)
