# Node and what npm installed for the user alone. npm's cache goes to ~/.npm of
# the empty home; no .npmrc, which holds tokens.

[profile]
description = Node of the user's own: npm's prefix ~/.npm-global, and the versions of ~/.nvm
abuse = It can run and read the user's own Node versions and global packages, to look for a known weakness.
include = @sys
include = @home
packs = yes

[fs]
# PATH names another place than the home, where a payload could make what is
# missing.
try-read = {home}/.npm-global
try-read = {home}/.npm-global -> /home-tools/node/npm
try-read = {home}/.nvm
# a link that nvm keeps with NVM_SYMLINK_CURRENT=true
try-read = {home}/.nvm/current -> /home-tools/node/nvm

[environ.merge]
PATH = /home-tools/node/npm/bin
PATH = /home-tools/node/nvm/bin
