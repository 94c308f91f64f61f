#!/bin/sh
# first-run.sh CARREL: the first thing to see. A scratch project is compiled
# and run in a sandbox, tries what it should not, and `explain` shows why it
# could not.
set -eu

carrel=$1
case $carrel in
/*) ;;
*) carrel=$(pwd)/$carrel ;;
esac
dir=$(mktemp -d /tmp/carrel-first.XXXXXX)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/project"
cat >"$dir/project/hello.c" <<'C'
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int
entries(const char *path)
{
	DIR *d = opendir(path);
	int n = -2; /* . and .. */

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

int
main(void)
{
	const char *home = getenv("HOME");

	printf("hello from a sandbox\n");
	printf("  my home %s holds %d files\n", home, entries(home));
	printf("  writing /usr/evil: %s\n",
	    fopen("/usr/evil", "w") == NULL ? "refused" : "DONE");
	printf("  writing result.txt in the project: %s\n",
	    fopen("result.txt", "w") == NULL ? "REFUSED" : "done");
	return 0;
}
C

show() {
	printf '\n$ carrel'
	for word; do
		case $word in
		*[!a-z./-]*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	echo
	(cd "$dir/project" && "$carrel" "$@")
}
show run -- gcc -o hello hello.c
show run -- ./hello
show run -- sh -c 'cat /etc/shadow; ls /'
show explain -- ./hello
