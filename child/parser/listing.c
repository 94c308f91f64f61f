#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ipc/grow.h"
#include "ipc/limits.h"
#include "layers.h"
#include "listing.h"

#define SUFFIX ".profile"

void
listing_free(struct listing *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->list[i].name);
	free(l->list);
	memset(l, 0, sizeof(*l));
}

static int
listed_cmp(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;
	int n = strcmp(x->name, y->name);

	return n != 0 ? n : (int)x->layer - (int)y->layer;
}

/* An entry of a directory; what is not called a profile is none. */
static int
add(struct listing *l, enum layer layer, const char *file)
{
	size_t n = strlen(file);
	struct listed *p;

	if (n <= strlen(SUFFIX) ||
	    strcmp(file + n - strlen(SUFFIX), SUFFIX) != 0)
		return 0;
	/* the layers and configurations are items, too */
	if (l->n == CATALOGUE_MAX - 8) {
		l->more++;
		return 0;
	}
	if ((p = grow_from(64, l->list, l->n, sizeof(*p))) == NULL)
		return -1;
	l->list = p;
	p += l->n;
	p->layer = layer;
	if (asprintf(&p->name, "%s%.*s", layer == LAYER_SHIPPED ? "@" : "",
		(int)(n - strlen(SUFFIX)), file) == -1)
		return -1;
	l->n++;
	return 0;
}

static int
read_layer(struct listing *l, enum layer layer, int at)
{
	struct dirent *e;
	DIR *d = NULL;
	int fd, n = 0;

	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL) {
		l->err[layer] = errno;
		if (fd != -1)
			close(fd);
		return 0;
	}
	errno = 0;
	while (n == 0 && (e = readdir(d)) != NULL)
		n = add(l, layer, e->d_name);
	if (n == 0)
		l->err[layer] = errno;
	closedir(d);
	return n;
}

int
listing_make(const struct layers *ls, struct listing *out)
{
	struct listing l;
	int layer;

	memset(&l, 0, sizeof(l));
	for (layer = LAYER_SHIPPED; layer <= LAYER_USER; layer++)
		if (ls->dir[layer].fd != -1 && read_layer(&l, (enum layer)layer,
						   ls->dir[layer].fd) == -1) {
			listing_free(&l);
			return -1;
		}
	if (l.n > 1)
		qsort(l.list, l.n, sizeof(*l.list), listed_cmp);
	*out = l;
	return 0;
}
