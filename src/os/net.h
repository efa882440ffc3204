/* net.h — TCP sockets: addresses, opening, bytes. Nothing here blocks but looking up a name. Answers are as in io.h. */
#ifndef RAD_OS_NET_H
#define RAD_OS_NET_H

#include "os/io.h"

/* Of a host: IPv4 or IPv6, with the port. */
typedef struct rad_os_address {
    _Alignas(8) uint8_t bytes[32]; /* a struct sockaddr_in or _in6 */
    uint32_t size;
} rad_os_address;

/* Looks a name up, and asks the network for it if need be. How many addresses there are (at most `max`), the preferred
 * one first; RAD_EIO when there is none. */
RAD_INTERNAL int rad__os_net_resolve(const char *host, const char *port, rad_os_address *addresses, uint32_t max,
                                     rad_error *error);

/* A socket that is not inherited, and sends at once what it is given. `blocks`: for io_uring, which wants it so. */
RAD_INTERNAL int64_t rad__os_net_socket(const rad_os_address *address, bool blocks);

/* See rad__os_io_connect. */
RAD_INTERNAL int64_t rad__os_net_connect(int fd, const rad_os_address *address);

RAD_INTERNAL int64_t rad__os_net_receive(int fd, void *to, size_t size);
RAD_INTERNAL int64_t rad__os_net_send(int fd, const void *from, size_t size);

/* A socket that is listened to. Port 0: any; rad__os_net_port says which. */
RAD_INTERNAL int64_t rad__os_net_listen(const rad_os_address *address);
RAD_INTERNAL int64_t rad__os_net_port(int fd);

/* Closing it tells the other side that something went wrong (RST), and leaves nothing behind here. */
RAD_INTERNAL void rad__os_net_reset(int fd);
RAD_INTERNAL void rad__os_net_reset_later(int fd); /* closing it will */

/* The process may open this many descriptors, if the system lets it. */
RAD_INTERNAL void rad__os_net_allow(uint64_t descriptors);

#endif
