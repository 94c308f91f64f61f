#ifndef CARREL_LIMITS_H
#define CARREL_LIMITS_H

/*
 * Every size that crosses a process boundary, or that untrusted input can
 * choose, has its maximum here. Sender and receiver both enforce it.
 * Bytes unless another unit is named.
 */

#define NAME_MAX_LEN	 63	       /* a profile's NAME, without the '@' */
#define PATH_MAX_LEN	 4095	       /* a path, without its NUL (PATH_MAX) */
#define COMPONENT_MAX	 255	       /* one component of a path (NAME_MAX) */
#define VALUE_MAX_LEN	 4096	       /* a value in a profile */
#define TEXT_MAX_LEN	 8192	       /* a message for a person */
#define TEXT_SHOWN_MAX	 256	       /* of one untrusted value in a message */
#define FIX_MAX_LEN	 2048	       /* a fix in a refusal, with its NUL */
#define SECTION_MAX_LEN	 48	       /* a section's name: inih keeps 49 */
#define KEY_MAX_LEN	 128	       /* a key: inih reads lines of 200 */
#define WORDS_MAX	 3	       /* words of a value in [fs] */
#define IDENT_MAX_LEN	 255	       /* user, group, TERM, LANG, TZ */
#define FILE_MAX_LEN	 (256 * 1024)  /* a profile or config file */
#define FILES_MAX_LEN	 (4096 * 1024) /* all profiles of a run */
#define INCLUDE_DEPTH	 64	       /* longest chain of includes */
#define PROFILES_MAX	 512	       /* profiles in one resolved policy */
#define SELECT_MAX	 256	       /* -p options and defaults */
#define GRANTS_MAX	 32768	       /* grants in one policy */
#define GRANT_LINES_MAX	 65536	       /* lines of [fs] in all profiles */
#define RULES_MAX	 4096	       /* rules in one policy */
#define EXEC_MAX	 1024  /* files and directories left executable */
#define EXEC_DIRS_MAX	 4096  /* directories in one of these */
#define ORIGINS_MAX	 1024  /* claims joined in one grant */
#define REFUSALS_MAX	 256   /* reasons kept of one refusal */
#define LINKS_MAX	 40    /* symlinks followed in one path */
#define LINKS_LEN	 32768 /* bytes of all their paths */
#define WALK_OPENS	 8192  /* opens that one path may take */
#define SOCKET_ENTRIES	 1024  /* entries of a directory, for sockets */
#define HOME_OTHER_LEN	 511   /* a home that HOME stands instead of */
#define GROUPS_MAX_LEN	 1024  /* groups of the caller that are named */
#define GROUPS_NAMES_LEN 16384 /* bytes of all their names */
#define PROTECT_MAX	 64    /* paths that no payload may write */
#define PROTECT_LEN	 15360 /* bytes of all of them, each with 4 more */
#define PROTECT_LOOKS	 65536 /* at write grants, for all that is trusted */
#define TMPFS_SIZE	 (256ULL << 20)	 /* a tmpfs without size= */
#define TMPFS_SUM	 (1024ULL << 20) /* all of a run, without [limits] */
#define TMPFS_SIZE_MAX	 (1ULL << 40)	 /* where [limits] tmpfs allows it */
#define TMPFS_SIZE_MIN	 4096ULL	 /* a page */
#define SCREEN_WORDS	 64		 /* words of a command on a screen */
#define SCREEN_WORD_LEN	 255		 /* of each */
#define RECORD_MAX	 65536		 /* one record, with its header */
#define DATAGRAM_MAX	 131072		 /* several; less than a socket holds */
#define POLICY_BYTES_MAX (64UL << 20)	 /* all records of one policy */
#define PLAN_BYTES_MAX	 (128UL << 20)	 /* all steps of one plan */

/* of the environment */
#define VARIABLE_NAME_MAX 128	 /* the name of a variable */
#define CLAIMS_MAX	  4096	 /* claims on variables in one policy */
#define SEQUENCE_MAX	  64	 /* elements that one profile prepends */
#define SEQUENCE_BYTES	  16384	 /* all of them, each with its NUL */
#define HOST_VALUE_MAX	  30720	 /* a value of the caller's environment */
#define STRING_MAX_LEN	  131071 /* NAME=value (MAX_ARG_STRLEN, execve(2)) */
#define PROMPT_MAX_LEN	  256	 /* the preference for PS1 */

/* of the network */
#define EGRESS_RULES_MAX   1024 /* lines of [egress] in all profiles */
#define EGRESS_HOSTS_MAX   1024 /* names and addresses among them */
#define EGRESS_SOCKETS_MAX 2048 /* made for the broker in one run */
#define DATAGRAM_FDS	   64	/* descriptors that go with one datagram */

/* what [limits] can say at the most; less is always possible */
#define LIMIT_BYTES_MAX	    (1ULL << 50)
#define LIMIT_PROCESSES_MAX 4194304ULL	/* PID_MAX_LIMIT */
#define LIMIT_CPU_MAX	    819200ULL	/* percent: 8192 processors */
#define LIMIT_SECONDS_MAX   31536000ULL /* a year */
#define LIMIT_FILES_MAX	    1048576ULL

/* of [tool] and [example] */
#define TOOLS_MAX      1024  /* of all profiles */
#define NEEDS_MAX      256   /* of one */
#define NEEDS_BYTES    32768 /* all of them, each with 8 more */
#define TOOL_WORDS_MAX 64    /* of an example's command */

/* of events */
#define EVENT_ACTION_MAX   31	 /* what was tried, a word */
#define EVENT_RESOURCE_MAX 4095	 /* on what: a path, or an address */
#define EVENT_RULE_MAX	   512	 /* the line of a profile that refused it */
#define EVENTS_MAX	   256	 /* different ones that a run keeps */
#define PLACES_MAX	   65536 /* grants that a report may name */
#define STATE_FLAGS_MAX	   512	 /* versions of profiles that are flagged */
#define STATE_RUNS_MAX	   128	 /* runs of which the violations are kept */
#define STATE_FILE_MAX	   (4096 * 1024) /* what is kept of one */
#define KEPT_COMMAND_MAX   1024		 /* of the command, in such a file */
#define KEPT_RESOURCE_MAX  1023		 /* of the resource of an event there */
#define STATE_LOOK	   4096 /* entries of a directory that are looked at */
#define STATE_PRUNE	   8	/* files that go at once */
#define STATE_STALE	   60	/* seconds until an unfinished one is left */
#define EVENT_BYTES_MAX	   8192 /* one event, a datagram */

/* of what is installed, which only a screen asks for */
#define CATALOGUE_MAX	16384	   /* profiles, and what is wrong with them */
#define CATALOGUE_LINES 262144	   /* of all of them */
#define CATALOGUE_BYTES (16 << 20) /* all of their files */

/* of the ceiling of a host */
#define CEILING_LINES_MAX 4096

#define PARSER_SECONDS	10 /* from its start to END, wall time */
#define BROKER_SECONDS	5  /* from its start until it is ready, wall time */
#define GRACE_SECONDS	10 /* from SIGTERM or SIGHUP to SIGKILL */
#define EXAMPLE_SECONDS 60 /* a run of profile test, wall time */

#endif
