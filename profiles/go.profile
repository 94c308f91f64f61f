# Go, and what "go install" put into ~/go/bin. Modules and builds go to ~/go
# and ~/.cache of the empty home.

[profile]
description = Go of the user's own: the programs of ~/go/bin, the releases of ~/sdk, and /usr/local/go
abuse = It can run and read the user's own Go tools and releases, to look for a known weakness.
include = @sys
include = @home
packs = yes

[fs]
# PATH names another place than the home, where a payload could make what is
# missing.
try-read = {home}/go/bin
try-read = {home}/go/bin -> /home-tools/go/bin
# where golang.org/dl keeps the releases that its programs start
try-read = {home}/sdk

[environ.merge]
PATH = /home-tools/go/bin
PATH = /usr/local/go/bin
