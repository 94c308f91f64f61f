[profile]
description = the directory that the target lies in, readable
abuse = It can read every project beside the target, with the secrets that lie in them.

[fs]
read = {target-parent}
