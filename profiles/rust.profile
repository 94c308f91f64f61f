# Rust as rustup installs it. The registry and all else that cargo keeps go to
# ~/.cargo of the empty home; credentials.toml is not there.

[profile]
description = Rust of the user's own: the programs of ~/.cargo/bin, the toolchains of ~/.rustup
abuse = It can run and read the user's own Rust tools and toolchains, to look for a known weakness or for what a toolchain of one's own gives away.
include = @sys
include = @home
packs = yes

[fs]
# PATH names another place than the home, where a payload could make what is
# missing.
try-read = {home}/.cargo/bin
try-read = {home}/.cargo/bin -> /home-tools/rust/bin
try-read = {home}/.rustup

[environ.merge]
PATH = /home-tools/rust/bin
