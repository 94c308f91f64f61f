[profile]
description = the target directory, writable
abuse = It can read, change and delete everything in the target directory, and plant scripts or hooks there that run when a person later uses it.

[fs]
write = {target}
