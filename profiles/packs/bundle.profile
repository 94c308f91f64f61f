# carrel run -f bundle.profile -- tar -C /workdir --exclude=./out -cf /workdir/out/source.tar .
# A pack that writes: /workdir/out is made if it is missing, and stays.

[profile]
description = packs the target directory into out/source.tar
abuse = It can read everything in the target directory, and fill the disk with what it writes below out.
tier = read-only

[fs]
write = /workdir/out

[limits]
cpu-time = 5m
file-size = 1G

[tool tar]
description = writes the archive; out itself is left out
effect = write
needs = read /workdir
needs = write /workdir/out

[example source]
run = tar -C /workdir --exclude=./out -cf /workdir/out/source.tar .
needs = write /workdir/out

[example read-only]
run = sh -c "test ! -w /workdir"
