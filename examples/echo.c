/* echo.c — a TCP server that sends back what it gets: a fiber per connection, which reads and writes as if no other one
 * were there.
 *
 *     cc echo.c $(pkg-config --cflags --libs raddle) -o echo
 *     ./echo           a server, and 100 clients that try it
 *     ./echo 7777      a server, until it is interrupted */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <raddle.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { CLIENTS = 100, MESSAGES = 50 };

static struct sockaddr_in address = {.sin_family = AF_INET};

static int serve(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char text[1024];
    int64_t got;
    while ((got = rad_read(fd, text, sizeof text, RAD_FOREVER)) > 0)
        if (rad_write(fd, text, (size_t)got, RAD_FOREVER) != got) break;
    rad_fd_close(fd);
    return 0;
}

/* Until the listening socket is closed: no connection outlives the nursery. */
static int accept_all(void *arg)
{
    int listening = *(int *)arg;
    int64_t fd;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    while ((fd = rad_accept(listening, NULL, NULL, RAD_FOREVER)) >= 0)
        if (rad_nursery_spawn(&n, NULL, serve, (void *)(intptr_t)fd) != 0) rad_fd_close((int)fd);
    return rad_nursery_wait(&n);
}

static int client(void *arg)
{
    int number = (int)(intptr_t)arg, failed = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0) return 1;
    if (rad_connect(fd, (struct sockaddr *)&address, sizeof address, RAD_FOREVER) == 0) {
        failed = 0;
        for (int i = 0; i < MESSAGES && !failed; i++) {
            char sent[64] = {0}, back[64];
            snprintf(sent, sizeof sent, "message %d of client %d", i, number);
            failed = rad_write(fd, sent, sizeof sent, RAD_FOREVER) != sizeof sent;
            for (size_t have = 0; have < sizeof back && !failed;) {
                int64_t got = rad_read(fd, back + have, sizeof back - have, RAD_FOREVER);
                if (got <= 0) failed = 1;
                have += (size_t)(got > 0 ? got : 0);
            }
            failed = failed || memcmp(sent, back, sizeof sent) != 0;
        }
    }
    rad_fd_close(fd);
    return failed;
}

static int try_it(void *arg)
{
    int *listening = arg;
    rad_fiber server;
    rad_nursery n;
    if (rad_spawn(&server, accept_all, listening) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CLIENTS; i++) rad_nursery_go(&n, client, (void *)(intptr_t)i);
    int failed = rad_nursery_wait(&n);
    rad_fd_close(*listening); /* wakes the server */
    failed = rad_join(server, NULL, RAD_FOREVER) != 0 || failed;
    rad_release(server);
    printf("%d clients, %d messages each: %s\n", CLIENTS, MESSAGES, failed ? "failed" : "all came back");
    return failed;
}

int main(int count, char **words)
{
    socklen_t size = sizeof address;
    rad_error error;
    bool alone = count < 2;
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    signal(SIGPIPE, SIG_IGN);
    address.sin_addr.s_addr = htonl(alone ? INADDR_LOOPBACK : INADDR_ANY);
    address.sin_port = htons(alone ? 0 : (uint16_t)strtoul(words[1], NULL, 10));
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0 || rad_fd_prepare(fd) != 0)
        return perror("echo"), 1;
    error.code = 0;
    int code = rad_main(NULL, alone ? try_it : accept_all, &fd, &error);
    if (error.code != 0) fprintf(stderr, "echo: %s\n", error.text);
    return code != 0;
}
