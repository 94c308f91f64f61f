#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "catalogue.h"
#include "ceiling.h"
#include "child/shared/catalogue.h"
#include "child/shared/login.h"
#include "child/shared/ceiling.h"
#include "ipc/tool.h"
#include "config.h"
#include "ipc/channel.h"
#include "ipc/limits.h"
#include "ipc/log.h"
#include "ipc/policy.h"
#include "child/shared/request.h"
#include "layers.h"
#include "listing.h"
#include "login.h"
#include "place.h"
#include "resolve.h"
#include "sandbox.h"
#include "select.h"

/*
 * carrel-parse: reads what strangers may have written and sends the one
 * policy that follows from it. The parent is at the other end of descriptor
 * 3 and believes nothing of it. This program says nothing on standard error:
 * a reason is a refusal in the policy, and an exit code of 125 before the end
 * of the policy is the parent's to tell.
 */

#define PARENT 3
#define GIVEN  4 /* the file of REQUEST_CEILING and REQUEST_LOGIN */

#if SANDBOX_SANITIZED
/* The search for leaks reads /proc; the unit tests can do it, in here not. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

/*
 * The socket is there, and nothing else but it, 0-2 and what may be
 * login.conf. 0 or -1.
 */
static int
begin(void)
{
	int type;
	socklen_t len = sizeof(type);

	/* a parent that is gone already shows as a closed socket */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    prctl(PR_SET_DUMPABLE, SANDBOX_SANITIZED, 0, 0, 0) == -1)
		return -1;
	if (getsockopt(PARENT, SOL_SOCKET, SO_TYPE, &type, &len) == -1 ||
	    type != SOCK_SEQPACKET ||
	    fcntl(PARENT, F_SETFL, O_NONBLOCK) == -1 ||
	    fcntl(PARENT, F_SETFD, FD_CLOEXEC) == -1)
		return -1;
	return (int)syscall(SYS_close_range, GIVEN + 1U, ~0U, 0U);
}

static int
receive(int64_t deadline, struct request *q)
{
	struct receiver r;
	int n;

	if (receiver_init(&r, PARENT, deadline, record_request) == -1)
		return -1;
	n = request_receive(&r, q);
	receiver_free(&r);
	return n;
}

/* Everything between the request and the policy. -1: refused, or no memory. */
static int
answer(const struct request *q, const struct layers *ls, struct policy *po)
{
	struct config c;
	struct selection sel;
	int n;

	memset(&c, 0, sizeof(c));
	/* where a profile is looked at, no preference counts */
	if ((q->flags & REQUEST_DESCRIBE) == 0 && config_read(ls, po, &c) == -1)
		return -1;
	po->prompt = c.prompt;
	c.prompt = NULL;
	n = selection_load(q, &c, ls, po, &sel);
	if (n == 0) {
		n = resolve(q, &sel, po);
		selection_free(&sel);
	}
	config_free(&c);
	return n;
}

/* If the parent's own check would fail, that alone is sent. 0 or -1. */
static int
prove(struct policy *po)
{
	struct place nowhere = {po, "", ""};
	char why[TEXT_MAX_LEN];

	policy_sort(po);
	if (policy_check(po, why, sizeof(why)) == 0)
		return 0;
	policy_free(po);
	place_refuse(&nowhere, 0, "report this as a bug", "internal: %s", why);
	return po->nrefusals == 1 ? 0 : -1;
}

static int
send_policy(int64_t deadline, const struct request *q, const struct policy *po)
{
	struct sender s;
	int n;

	if (sender_init(&s, PARENT, deadline) == -1)
		return -1;
	n = (q->flags & REQUEST_DESCRIBE) != 0 ? described_send(&s, po)
					       : policy_send(&s, po);
	sender_free(&s);
	return n;
}

/*
 * What is installed, for a screen. Directories are read before the sandbox is
 * entered, the files after; if it cannot be, that alone is the answer.
 */
static int
describe(int64_t deadline, const struct request *q, const struct layers *ls)
{
	struct catalogue c;
	struct listing l;
	struct sender s;
	struct policy po;
	struct place nowhere = {&po, "", ""};
	int n;

	memset(&c, 0, sizeof(c));
	memset(&po, 0, sizeof(po));
	if (listing_make(ls, &l) == -1)
		return EXIT_CARREL;
	if (sandbox_enter(
		ls, (q->flags & REQUEST_WITHOUT_LANDLOCK) != 0, &nowhere) == 0)
		n = catalogue_make(q, ls, &l, &c);
	else
		n = po.nrefusals == 0
			? -1
			: catalogue_add_fault(&c, 0, &po.refusals[0]);
	if (n == -1 || sender_init(&s, PARENT, deadline) == -1 ||
	    catalogue_send(&s, &c) == -1 || close(PARENT) == -1)
		return EXIT_CARREL;
	_exit(0);
}

/* What login.conf says of the caller; nothing else is read, or can be. */
static int
login(int64_t deadline, const struct request *q)
{
	struct layers ls;
	struct policy po;
	struct place nowhere = {&po, "", ""};
	struct login l;
	struct sender s;
	int fd = GIVEN;

	memset(&po, 0, sizeof(po));
	layers_none(&ls, &q->caller);
	if (fcntl(GIVEN, F_SETFD, FD_CLOEXEC) == -1)
		return EXIT_CARREL;
	if (sandbox_enter(&ls, 0, &nowhere) == -1)
		fd = -1; /* that is the answer, and nothing is read */
	if (login_read(&po, fd, &q->caller, &l) == -1 ||
	    sender_init(&s, PARENT, deadline) == -1 ||
	    login_send(&s, &l) == -1 || close(PARENT) == -1)
		return EXIT_CARREL;
	_exit(0);
}

/*
 * The ceiling of the host: nothing but this descriptor, and no directory, is
 * ever open or can be opened. What is wrong with the file is in the answer.
 */
static int
limit(int64_t deadline, const struct request *q)
{
	struct place at = {.profile = "", .file = q->host_config};
	struct text_file f = {.path = q->host_config};
	struct ceiling c;
	struct layers ls;
	struct policy faults;
	struct sender s;

	memset(&c, 0, sizeof(c));
	memset(&faults, 0, sizeof(faults));
	at.po = &faults;
	layers_none(&ls, &q->caller);
	if (sandbox_enter(
		&ls, (q->flags & REQUEST_WITHOUT_LANDLOCK) != 0, &at) == 0 &&
	    layers_ceiling(&ls, &at, GIVEN, &f) == 1)
		(void)ceiling_parse(&at, &q->caller, f.data, f.len, &c);
	/* without memory there is neither a ceiling nor a reason */
	if (c.file == NULL && faults.nrefusals == 0)
		return EXIT_CARREL;
	if (c.file == NULL)
		c.file = q->host_config;
	c.faults = faults;
	if (sender_init(&s, PARENT, deadline) == -1 ||
	    ceiling_send(&s, &c) == -1 || close(PARENT) == -1)
		return EXIT_CARREL;
	_exit(0);
}

int
main(void)
{
	int64_t deadline = channel_deadline(PARSER_SECONDS);
	struct request q;
	struct layers ls;
	struct policy po;
	struct place nowhere = {&po, "", ""};
	int n;

	memset(&po, 0, sizeof(po));
	if (begin() == -1 || receive(deadline, &q) == -1)
		return EXIT_CARREL;
	if ((q.flags & REQUEST_CEILING) != 0)
		return limit(deadline, &q);
	if ((q.flags & REQUEST_LOGIN) != 0)
		return login(deadline, &q);
	close(GIVEN); /* there is none, or it is not asked for */
	layers_open(&ls, &q);
	if ((q.flags & REQUEST_CATALOGUE) != 0)
		return describe(deadline, &q, &ls);
	n = sandbox_enter(
	    &ls, (q.flags & REQUEST_WITHOUT_LANDLOCK) != 0, &nowhere);
	if (n == 0)
		n = answer(&q, &ls, &po);
	if (n == -1 && po.nrefusals == 0)
		return EXIT_CARREL;
	if (prove(&po) == -1 || send_policy(deadline, &q, &po) == -1 ||
	    close(PARENT) == -1) /* the end of the policy, before this one's */
		return EXIT_CARREL;
	_exit(0); /* the kernel frees and closes faster */
}
