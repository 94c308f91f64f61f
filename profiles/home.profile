[profile]
description = an empty home that is gone after the run
abuse = It can fill the memory that the home may take; nothing of the real home is there.
packs = yes

[fs]
tmpfs = {home}

# Where programs keep what is theirs, in this home and nowhere else.
[environ.set]
XDG_CONFIG_HOME = {home}/.config
XDG_CACHE_HOME = {home}/.cache
XDG_STATE_HOME = {home}/.local/state
XDG_DATA_HOME = {home}/.local/share
