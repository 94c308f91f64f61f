#ifndef CARREL_CAUSE_H
#define CARREL_CAUSE_H

/* The kinds of step that a host can forbid. */
enum cause_step {
	CAUSE_OTHER = 0,
	CAUSE_USERNS, /* clone with CLONE_NEWUSER and the rest */
	CAUSE_IDMAP,  /* uid_map, gid_map, setgroups */
	CAUSE_MOUNT,  /* the new mount API: fsopen ... move_mount */
	CAUSE_PROC,   /* mounting a new procfs */
	CAUSE_NETNS,  /* lo up in the new network namespace */
	CAUSE_OPENAT2,
	CAUSE_LANDLOCK,
	CAUSE_SECCOMP,
	CAUSE_KEYRING,	/* a session keyring */
	CAUSE_NFTABLES, /* nf_tables with tproxy and socket */
	CAUSE_LAST = CAUSE_NFTABLES
};

#endif
