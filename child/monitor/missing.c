#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child/shared/caller.h"
#include "ipc/log.h"
#include "ipc/path.h"
#include "learn.h"
#include "missing.h"
#include "options.h"
#include "parent/start.h"

static const char *const of_sys[] = {
    "/usr", "/bin", "/sbin", "/lib", "/lib64", NULL};

/* Below the home: what the shipped profiles of languages bring. */
static const struct {
	const char *dir, *profile;
} of_tools[] = {{"/.cargo/bin/", "@rust"}, {"/go/bin/", "@go"},
    {"/.npm-global/bin/", "@node"}, {"/.nvm/current/bin/", "@node"},
    {"/.local/bin/", "@python"}};

/* The shipped profile that would bring this program of the home, or NULL. */
static const char *
tool_profile(const char *home, const char *host)
{
	const char *below = path_below(home, host);
	size_t i, n;

	for (i = 0; below != NULL && i < sizeof(of_tools) / sizeof(of_tools[0]);
	     i++) {
		n = strlen(of_tools[i].dir);
		if (strncmp(below, of_tools[i].dir, n) == 0 &&
		    strchr(below + n, '/') == NULL)
			return of_tools[i].profile;
	}
	return NULL;
}

/* Where the caller's own PATH has it: 1 and a path in dst. */
static int
on_host(const struct start *st, const char *name, char *dst, size_t len)
{
	const char *p = start_getenv(st, "PATH");
	struct stat sb;
	size_t n;

	while (p != NULL && *p != '\0') {
		n = strcspn(p, ":");
		if (*p == '/' &&
		    (size_t)snprintf(dst, len, "%.*s/%s", (int)n, p, name) <
			len &&
		    stat(dst, &sb) == 0 && S_ISREG(sb.st_mode) &&
		    access(dst, X_OK) == 0)
			return 1;
		p += n + (p[n] == ':');
	}
	return 0;
}

void
missing_tell(const struct options *o, const struct caller *c,
    const struct start *st, const char *path)
{
	const char *name = o->shell ? c->shell : o->argv[0], *profile;
	char host[PATH_MAX];
	int i;

	if (strchr(name, '/') != NULL) {
		log_warn("%s: not found inside; nothing is there but what "
			 "profiles grant, see: carrel explain",
		    name);
		return;
	}
	if (on_host(st, name, host, sizeof(host)))
		learn_find(o, host);
	else {
		log_warn("%s: not found inside (PATH there is %s), nor on this "
			 "host; install it, or check the spelling",
		    name, path);
		return;
	}
	for (i = 0; of_sys[i] != NULL; i++)
		if (path_covers(of_sys[i], host)) {
			log_warn("%s: not found inside (PATH there is %s); "
				 "this host has %s: name that path, and add -p "
				 "@sys if it is not there",
			    name, path, host);
			return;
		}
	if ((profile = tool_profile(c->home, host)) != NULL) {
		log_warn("%s: not found inside (PATH there is %s); this host "
			 "has %s: add -p %s",
		    name, path, host, profile);
		return;
	}
	log_warn("%s: not found inside (PATH there is %s); this host has %s: "
		 "stage it with \"command = %s\" in a profile",
	    name, path, host, host);
}

void
missing_ptrace(const struct options *o)
{
	static const char *const debuggers[] = {"gdb", "gdbserver", "lldb",
	    "lldb-server", "ltrace", "rr", "strace"};
	const char *name, *slash;
	size_t i;

	if (o->shell || o->allow_ptrace)
		return;
	slash = strrchr(o->argv[0], '/');
	name = slash != NULL ? slash + 1 : o->argv[0];
	for (i = 0; i < sizeof(debuggers) / sizeof(debuggers[0]); i++)
		if (strcmp(debuggers[i], name) == 0)
			log_warn("%s: tracing other processes is refused "
				 "inside; add --allow-ptrace, which is weaker",
			    name);
}
