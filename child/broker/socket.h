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

/* A datagram and where it came to (IP_PKTINFO); local may be NULL. */
ssize_t socket_receive_to(int fd, void *, size_t, struct sockaddr_storage *from,
    struct address *local);
/* From that address. 0 or -1. */
int socket_send_from(int fd, const void *, size_t,
    const struct sockaddr_storage *to, socklen_t, const struct address *local);

#endif
