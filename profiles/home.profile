[profile]
description = an empty home that is gone after the run
abuse = It can fill the memory that the home may take; nothing of the real home is there.

[fs]
tmpfs = {home}
