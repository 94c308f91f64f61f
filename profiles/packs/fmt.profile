# carrel run -f fmt.profile -- fmt /workdir/README
# A pack: its paths are those inside, where the target is at /workdir.

[profile]
description = paragraphs of a fixed width: reads the target and writes to standard output
abuse = It can read everything in the target directory and print it.
tier = read-only

[exec]
# The start of the command is the last execve(2), and no process follows it.
once = yes
spawn = no

[limits]
cpu-time = 10s

[tool fmt]
description = breaks the lines of a text anew
effect = none
needs = read /workdir

[example short-lines]
run = fmt -w 20
stdin = these are more words than have room in one line

[example nothing-there]
run = fmt /workdir/no-such-file
expect-exit = 1
