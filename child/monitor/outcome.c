#include <errno.h>
#include <string.h>

#include "child/setup/control.h"
#include "child/setup/payload.h"
#include "child/shared/cause.h"
#include "ipc/log.h"
#include "ipc/text.h"
#include "missing.h"
#include "monitor.h"
#include "options.h"
#include "outcome.h"

void
outcome_failed(const struct control *c)
{
	char why[TEXT_MAX_LEN];

	cause_of((enum cause_step)c->a, c->b, why, sizeof(why));
	log_warn("%s%s%s%s%s", c->text, c->b != 0 ? ": " : "",
	    c->b != 0 ? strerror(c->b) : "", why[0] != '\0' ? "; " : "", why);
}

static const char *
refused_fix(int err)
{
	switch (err) {
	case EACCES:
		return "make it executable (chmod +x), or name the program "
		       "that runs it";
	case ENOEXEC:
		return "begin it with a line like #!/bin/sh, or name the "
		       "program that runs it";
	case E2BIG:
		return "the arguments and the environment are too long "
		       "together: pass less, or raise the limit of the stack "
		       "(ulimit -s)";
	case ENAMETOOLONG:
		return "a name has 255 bytes at most and a path 4095: look "
		       "for a missing space or quote";
	case ELOOP:
		return "its symbolic links lead in a circle: mend them (ls "
		       "-l)";
	case ETXTBSY:
		return "somebody has it open for writing: try again when that "
		       "has ended";
	default:
		return "see execve(2)";
	}
}

int
outcome_no_exec(const struct monitored *w, const struct control *c)
{
	const char *name =
	    w->options->shell ? "your shell" : w->options->argv[0];

	switch (c->a) {
	case PAYLOAD_NOT_FOUND:
		missing_tell(w->options, w->caller, w->start, c->text);
		return 127;
	case PAYLOAD_INTERPRETER:
		log_warn("%s is there, but what runs it is not: \"%s\" is not "
			 "inside; add a profile that grants it",
		    SHOWN(name), SHOWN(c->text));
		return 127;
	case PAYLOAD_LOCKED:
		log_warn("\"%s\" cannot be executed: the profiles say which "
			 "programs can, and it is none of them; see carrel "
			 "explain, or add \"interpreter = %s\" to a profile",
		    c->text, c->text);
		return 126;
	case PAYLOAD_REFUSED:
		log_warn("\"%s\" cannot be executed: %s; %s", SHOWN(c->text),
		    strerror(c->b), refused_fix(c->b));
		return 126;
	default:
		/* only seccomp(2) says so */
		log_warn("cannot give the payload %s: %s%s", c->text,
		    strerror(c->b),
		    c->b == EBUSY ? "; another sandbox around this one answers "
				    "system calls already, seccomp_unotify(2)"
				  : "");
		return EXIT_CARREL;
	}
}
