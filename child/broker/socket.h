#ifndef BROKER_SOCKET_H
#define BROKER_SOCKET_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ipc/address.h"

/* From and to what the kernel takes; ports in host order. */
void sockaddr_v4(struct address *, const struct in_addr *);
void sockaddr_v6(struct address *, const struct in6_addr *);
/* 0, or -1 if it is neither. */
int sockaddr_read(
    const struct sockaddr_storage *, struct address *, uint16_t *port);
socklen_t sockaddr_write(
    const struct address *, uint16_t port, struct sockaddr_storage *);

/*
 * A datagram, from whom, and to which address and port (IP_RECVORIGDSTADDR,
 * IPV6_RECVORIGDSTADDR). Its length, or -1.
 */
ssize_t socket_receive_to(int fd, void *, size_t, struct sockaddr_storage *from,
    socklen_t *from_len, struct address *to, uint16_t *port);
#endif
