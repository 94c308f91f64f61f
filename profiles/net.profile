# Every public host, by any name or address, at any port, TCP and UDP. What is
# private, this host's own or link-local stays out of reach. Name hosts instead
# wherever they are known.

[profile]
description = Every public host and port; nothing private, nothing of this host
abuse = It can send everything that it reads to anyone, fetch any program, and attack other hosts in the user's name.
tier = unrestricted

[egress]
allow = *
