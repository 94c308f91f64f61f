#include <stddef.h>
#include <stdio.h>

#include "announce.h"
#include "control.h"
#include "events.h"
#include "ipc/confine.h"
#include "ipc/policy.h"

static int
say_profile(int control, const struct policy *po, size_t i)
{
	const struct profile *p = &po->profiles[i];
	char text[TEXT_MAX_LEN];

	snprintf(text, sizeof(text), "%s %s %s", p->digest, p->name, p->file);
	return control_send(control, CONTROL_PROFILE, p->layer,
	    (int)events_charged(po, i), text);
}

int
announce_policy(int control, const struct policy *po, const char *digest)
{
	unsigned on = VIOLATION_REPORT, reports = 0, k;
	struct confine cf;
	size_t i;

	if (po == NULL || po->nrefusals > 0)
		return control_send(control, CONTROL_POLICY, 0, 0, NULL);
	if (confine_join(po, &cf) == -1)
		return -1;
	if (cf.violation != NULL)
		on = (unsigned)cf.violation->number;
	for (k = REPORT_EXEC; k <= REPORT_LAST; k++)
		if (cf.report[k] != NULL)
			reports |= 1U << k;
	confine_free(&cf);
	for (i = 0; i < po->nprofiles; i++)
		if (say_profile(control, po, i) == -1)
			return -1;
	return control_send(
	    control, CONTROL_POLICY, (int)on, (int)reports, digest);
}
