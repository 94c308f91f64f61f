#include <stdlib.h>
#include <string.h>

#include "policy.h"
#include "tool.h"

void
tool_free(struct tool *t)
{
	size_t i;

	for (i = 0; i < t->nneeds; i++)
		free(t->needs[i].text);
	free(t->needs);
	free(t->name);
	free(t->text);
	free(t->input);
	memset(t, 0, sizeof(*t));
}

void
tools_release(struct policy *po)
{
	size_t i;

	for (i = 0; i < po->ntools; i++)
		tool_free(&po->tools[i]);
	free(po->tools);
}
