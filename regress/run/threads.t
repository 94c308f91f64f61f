#!/usr/bin/python3
"""R053: threads and every way to start a program, under the filter; and
debuggers, which need --allow-ptrace (S6, S70)."""
from tap import *

C = r"""
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static void *same(void *p) { return p; }
static int code(pid_t pid)
{
	int s;
	return waitpid(pid, &s, 0) == pid && WIFEXITED(s) ? WEXITSTATUS(s) : -1;
}
int main(void)
{
	char *argv[] = {"true", NULL};
	pthread_t t[50];
	void *got;
	pid_t pid;
	int i, n = 0;

	for (i = 0; i < 50; i++)
		if (pthread_create(&t[i], NULL, same, &t[i]) != 0)
			return 1;
	for (i = 0; i < 50; i++)
		n += pthread_join(t[i], &got) == 0 && got == &t[i];
	if ((pid = fork()) == 0)
		execv("/bin/true", argv);
	printf("%d %d", n, code(pid));
	fflush(stdout);
	if ((pid = vfork()) == 0)
		_exit(7);
	printf(" %d", code(pid));
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0)
		return 1;
	printf(" %d %d\n", code(pid), system("exit 3") >> 8);
	return 0;
}
"""
JAVA = """
public class T {
	public static void main(String[] a) throws Exception {
		Thread[] t = new Thread[50];
		for (int i = 0; i < 50; i++)
			(t[i] = new Thread(() -> {})).start();
		for (Thread x : t)
			x.join();
		System.out.println(new ProcessBuilder("true").start().waitFor());
	}
}
"""


def there(p, name):
    return p.host("sh", "-c", "command -v " + name).code == 0


with Place() as p:
    p.write("t.c", C)
    r = p.sh("gcc -pthread -o t t.c && ./t")
    equal(r.out, "50 0 7 0 3\n", "R053 pthreads, fork, vfork, posix_spawn, "
          "system", r)
    r = p.run("python3", "-c", "import threading as t; "
              "x = [t.Thread(target=print, args=('x',)) for i in range(50)]; "
              "[i.start() for i in x]; [i.join() for i in x]")
    equal(r.out.count("x"), 50, "R053 python3 threads", r)
    if there(p, "java"):
        p.write("T.java", JAVA)
        r = p.run("java", "T.java")
        equal(r.out, "0\n", "R053 java threads, exec", r)
    else:
        skip("R053 java", "no java here: regress/deps.sh check has it")

    debug = ("gdb", "-nx", "-batch", "-ex", "break main", "-ex", "run", "./t")
    if there(p, "gdb"):
        r = p.run(*debug)
        ok("Breakpoint 1, " not in r.out and "not permitted" in
           r.out + r.err and "carrel: gdb: " in r.err and "--allow-ptrace" in
           r.err, "S70 gdb is refused, and told what it needs", r)
        r = p.do("run", "--allow-ptrace", "--", *debug)
        ok("Breakpoint 1, " in r.out and "carrel: " not in r.err,
           "S6 and works with --allow-ptrace", r)
    else:
        skip("S70 gdb", "not installed")
done()
