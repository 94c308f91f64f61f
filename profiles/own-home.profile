[profile]
description = the real home directory, writable
abuse = It can read every key and document in the home, change or delete them, and plant start-up files that run outside with the next login.

[fs]
write = {home}
