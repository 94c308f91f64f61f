# Python and what pip, pipx and uv installed for the user alone. Their caches
# go to ~/.cache of the empty home.

[profile]
description = Python of the user's own: the programs of ~/.local/bin, its packages in ~/.local/lib, pipx and uv
abuse = It can run and read what the user keeps in ~/.local/bin and ~/.local/lib, also what is not Python's, to look for a known weakness.
include = @sys
include = @home
packs = yes

[fs]
# PATH names another place than the home, where a payload could make what is
# missing.
try-read = {home}/.local/bin
try-read = {home}/.local/bin -> /home-tools/python/bin
# Programs and packages name these by their full path.
try-read = {home}/.local/lib
try-read = {home}/.local/pipx
try-read = {home}/.local/share/pipx
try-read = {home}/.local/share/uv

[environ.merge]
PATH = /home-tools/python/bin
