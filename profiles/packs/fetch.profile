# carrel run -f fetch.profile -- wget -q -O - https://api.example.org/
# A pack with a way to one host; example.org stands for it. It is not for curl,
# which makes a unix socket for itself, and no pack has any.

[profile]
description = gets a page from api.example.org
abuse = It can tell api.example.org what is in the target directory, and that the user runs it.
tier = side-effect

[egress]
allow = https://api.example.org:443

[limits]
wall-time = 1m

[tool wget]
description = prints the page
effect = network
needs = allow https://api.example.org:443

[example page]
run = wget -q -T 20 -t 1 -O - https://api.example.org/
needs = allow https://api.example.org:443

[example nothing-asked]
# No host in it, so nothing is looked up: wget says how it is called.
run = wget -q
expect-exit = 1
