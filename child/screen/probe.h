#ifndef CARREL_SCREEN_PROBE_H
#define CARREL_SCREEN_PROBE_H

/* What a run needs of the kernel, in the order in which it is tried. */
enum probe {
	PROBE_USERNS,
	PROBE_IDMAP,
	PROBE_MOUNT,
	PROBE_OPENAT2,
	PROBE_PROC,
	PROBE_NETNS,
	PROBE_EGRESS,	  /* of [egress] */
	PROBE_EVERYTHING, /* of allow = * */
	PROBE_PIVOT,	  /* the last in the namespaces */
	PROBE_KEYRING,
	PROBE_LANDLOCK,
	PROBE_SECCOMP,
	PROBE_NOTIFY, /* of report and once */
	PROBES
};

#define PROBE_UNTRIED (-1) /* an earlier one failed */
#define PROBE_SECONDS 10

/*
 * Tries each in children that end with it and leave nothing behind: in
 * results 0, an errno or PROBE_UNTRIED; in *abi the Landlock ABI, or 0.
 */
void probe_all(int results[PROBES], int *abi);

#endif
