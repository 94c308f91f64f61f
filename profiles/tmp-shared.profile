[profile]
description = the host's own /tmp instead of a private one
abuse = It can read and change what other programs of the same user keep in /tmp, talk to sockets that lie there, and leave files that outlive the run.

[fs]
write = /tmp
