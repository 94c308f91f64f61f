#ifndef CARREL_SERVER_H
#define CARREL_SERVER_H

#include <stdint.h>

struct address;
struct failure;

/*
 * The calls of the set-up that need a capability. In user mode they are made
 * here, in namespaces whose owner this process is: what parent/mountapi.h,
 * listen.h, rtnetlink.h and nftables.h say holds for each. In hosted mode this
 * process has no capability, and asks the server for them (parent/op.h).
 * Nothing else of the set-up knows the difference.
 */

/* From now on they are asked for, over this socket. Once, before all others. */
void server_use(int fd);
int server_used(void);

int server_clone(int fd, uint64_t attr);
int server_set(int fd, uint64_t attr);
/* inodes 0: no limit */
int server_tmpfs(uint64_t size, uint64_t inodes, unsigned mode, uint64_t attr);
int server_devpts(uint64_t attr);
int server_proc(uint64_t attr); /* once */
/* Of the last that was made: with the server nothing else can be moved. */
int server_move(int mount, int dir, const char *name);
int server_private(void);
int server_pivot(void);

int server_local(int *v6, struct failure *);
int server_listen(const struct address *, uint16_t port, int udp);
int server_listen_all(int family, uint16_t port, int udp);
int server_observe(unsigned i);
int server_divert(uint16_t port, int v6, struct failure *);
/* Hosted mode alone: the socket factory gets this end. 0 or -1. */
int server_factory(int fd, int any);

#endif
