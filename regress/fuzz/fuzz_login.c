#include "child/parser/login.h"
#include "child/parser/place.h"
#include "child/shared/login.h"
#include "ipc/check.h"
#include "judge.h"
#include "wire.h"

/*
 * The bytes of login.conf, for an account of two groups: what it says of it is
 * whole, or there is exactly one reason.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char user[] = "ann", own[] = "ann", dev[] = "dev";
	struct caller_group groups[] = {{1, own}, {2, dev}};
	const struct caller c = {.user = user, .groups = groups, .ngroups = 2};
	struct policy po;
	struct place at = {&po, "", ""};
	struct login l;
	char *text = malloc(size + 1);
	size_t i, k;
	int n;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	memset(&po, 0, sizeof(po));
	n = login_parse(&at, text, size, &c, &l);
	if (po.nrefusals != (n == -1 ? 1U : 0U))
		broken("login.conf", "other than one refusal");
	if (n == 0 && (l.nprofiles == 0 || !path_clean(l.shell)))
		broken("login.conf", "half an answer");
	for (i = 0; n == 0 && i < l.nprofiles; i++) {
		if (!check_name(l.profiles[i]))
			broken("login.conf", l.profiles[i]);
		for (k = 0; k < i; k++)
			if (strcmp(l.profiles[i], l.profiles[k]) == 0)
				broken("twice", l.profiles[i]);
	}
	if (n == 0)
		login_free(&l);
	policy_free(&po);
	free(text);
	return 0;
}
