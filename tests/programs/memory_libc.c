/* memory_libc.c — functions of the C library whose memory is looked at, called by one thread while another one uses
 * the same bytes: NAMES..., or `fixed` for all of them under a lock. `list`: which there are.
 *
 * Each call has a function of its own, so a race says which it is. The other thread touches the last byte that a call
 * must be seen to use, and without a lock the byte behind it, which is nobody else's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 8, ROOM = 64 };

typedef struct place {
    char in[ROOM], out[ROOM]; /* SIZE bytes of each are used */
} place;

static bool fixed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static int fd, sockets[2], event;
size_t eight = SIZE; /* the compiler does not know */
char *keeps;

static int order(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

__attribute__((format(printf, 3, 4))) static void prints(char *to, bool bounded, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    if (bounded)
        vsnprintf(to, ROOM, format, more);
    else
        (vsprintf)(to, format, more);
    va_end(more);
}

static void fills(void)
{
    char byte[SIZE] = "5555555";
    if (write(sockets[1], byte, SIZE) != SIZE) abort();
}

/* The second one is filled in part. */
#define PARTS(at)                                                                                                      \
    {                                                                                                                  \
        {at, SIZE / 2},                                                                                                \
        {                                                                                                              \
            at + SIZE / 2, ROOM - SIZE / 2                                                                             \
        }                                                                                                              \
    }

/* In parentheses: the functions themselves, which this is about. Each has a name and what it does with the strings `in`
 * of seven characters and `out`; R: reads `in`, W: writes `out`. */
#define CALLS(CALL)                                                                                                    \
    CALL(memcpy, RW, memcpy(p->out, p->in, eight))                                                                     \
    CALL(memmove, RW, memmove(p->out, p->in, eight))                                                                   \
    CALL(mempcpy, RW, mempcpy(p->out, p->in, eight))                                                                   \
    CALL(memset, W, memset(p->out, 'm', eight))                                                                        \
    CALL(explicit_bzero, W, explicit_bzero(p->out, eight))                                                             \
    CALL(bzero, W, bzero(p->out, eight))                                                                               \
    CALL(memcmp, R, if (memcmp(p->in, "zzzzzzz", eight) == 1000) abort())                                              \
    CALL(bcmp, R, if (bcmp(p->in, "zzzzzzz", eight) == 1000) abort())                                                  \
    CALL(memchr, R, if (memchr(p->in, 0, ROOM) == NULL) abort())                                                       \
    CALL(strlen, R, if (strlen(p->in) != SIZE - 1) abort())                                                            \
    CALL(strnlen, R, if (strnlen(p->in, ROOM) != SIZE - 1) abort())                                                    \
    CALL(strchr, R, if (strchr(p->in, 'Z') != NULL) abort())                                                           \
    CALL(strrchr, R, if (strrchr(p->in, 'Z') != NULL) abort())                                                         \
    CALL(strcmp, R, if (strcmp(p->in, "5555555") != 0) abort())                                                        \
    CALL(strncmp, R, if (strncmp(p->in, "5555555x", ROOM) >= 0) abort())                                               \
    CALL(strcpy, RW, (strcpy)(p->out, p->in))                                                                          \
    CALL(stpcpy, RW, stpcpy(p->out, p->in))                                                                            \
    CALL(strncpy, RW, strncpy(p->out, p->in, eight))                                                                   \
    CALL(strcat, RW, p->out[0] = 0; (strcat)(p->out, p->in))                                                           \
    CALL(strncat, RW, p->out[0] = 0; strncat(p->out, p->in, ROOM / 2))                                                 \
    CALL(strdup, R, keeps = strdup(p->in))                                                                             \
    CALL(strndup, R, keeps = strndup(p->in, ROOM / 2))                                                                 \
    CALL(vsnprintf, W, prints(p->out, true, "%d", 1234567))                                                            \
    CALL(vsprintf, W, prints(p->out, false, "%d", 1234567))                                                            \
    CALL(snprintf, W, snprintf(p->out, ROOM, "%d", 1234567))                                                           \
    CALL(sprintf, W, (sprintf)(p->out, "%d", 1234567))                                                                 \
    CALL(fread, W, rewind(file); if (fread(p->out, 1, eight, file) != eight) abort())                                  \
    CALL(fwrite, R, rewind(file); if (fwrite(p->in, eight, 1, file) != 1) abort())                                     \
    CALL(fgets, W, rewind(file); if (fgets(p->out, SIZE, file) == NULL) abort())                                       \
    CALL(fputs, R, rewind(file); fputs(p->in, file))                                                                   \
    CALL(puts, R, puts(p->in))                                                                                         \
    CALL(qsort, W, qsort(p->out, eight, 1, order))                                                                     \
    CALL(pread, W, if (pread(fd, p->out, eight, 0) != SIZE) abort())                                                   \
    CALL(pwrite, R, if (pwrite(fd, p->in, eight, 0) != SIZE) abort())                                                  \
    CALL(read, W, fills(); if (read(sockets[0], p->out, ROOM) != SIZE) abort())                                        \
    CALL(readv, W, fills(); struct iovec v[] = PARTS(p->out); if (readv(sockets[0], v, 2) != SIZE) abort())            \
    CALL(recv, W, fills(); if (recv(sockets[0], p->out, ROOM, 0) != SIZE) abort())                                     \
    CALL(recvfrom, W, fills(); if (recvfrom(sockets[0], p->out, ROOM, 0, NULL, NULL) != SIZE) abort())                 \
    CALL(recvmsg, W, fills(); struct iovec v[] = PARTS(p->out); struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};     \
         if (recvmsg(sockets[0], &m, 0) != SIZE) abort())                                                              \
    CALL(write, R, if (write(sockets[0], p->in, eight) != SIZE) abort())                                               \
    CALL(writev, R, struct iovec v = {p->in, eight}; if (writev(sockets[0], &v, 1) != SIZE) abort())                   \
    CALL(send, R, if (send(sockets[0], p->in, eight, 0) != SIZE) abort())                                              \
    CALL(sendto, R, if (sendto(sockets[0], p->in, eight, 0, NULL, 0) != SIZE) abort())                                 \
    CALL(sendmsg, R, struct iovec v = {p->in, eight}; struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};              \
         if (sendmsg(sockets[0], &m, 0) != SIZE) abort())                                                              \
    CALL(eventfd_read, W,                                                                                              \
         if (eventfd_write(event, 1) != 0 || eventfd_read(event, (eventfd_t *)(void *)p->out) != 0) abort())

enum { R = 1, W = 2, RW = R | W };

#define NUMBER(name, uses, ...) NUMBER_##name,
enum { CALLS(NUMBER) COUNT };
#undef NUMBER

static place places[COUNT];

#define DEFINE(name, uses, ...)                                                                                        \
    __attribute__((noinline)) static void call_##name(place *p)                                                        \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
CALLS(DEFINE)

static const struct {
    const char *name;
    int uses;
    void (*call)(place *p);
} calls[COUNT] = {
#define ROW(name, uses, ...) {#name, uses, call_##name},
    CALLS(ROW)
#undef ROW
};

static bool chosen[COUNT];

static void lock(void)
{
    if (fixed) pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    if (fixed) pthread_mutex_unlock(&mutex);
}

static void *caller(void *unused)
{
    for (int i = 0; i < COUNT; i++) {
        if (!chosen[i]) continue;
        lock();
        calls[i].call(&places[i]);
        unlock();
    }
    return unused;
}

static char sink;

static void *toucher(void *unused)
{
    for (int i = 0; i < COUNT; i++) {
        if (!chosen[i]) continue;
        place *p = &places[i];
        p->in[SIZE] = 'b';
        p->out[SIZE] = 'b';
        lock();
        if (calls[i].uses & R) p->in[SIZE - 1] = 0; /* the end of the string */
        if (calls[i].uses & W) sink ^= p->out[SIZE - 1];
        unlock();
    }
    return unused;
}

static void prepare(void)
{
    char text[SIZE] = "5555555";
    file = tmpfile();
    if (file == NULL || pipe(sockets) != 0) abort();
    close(sockets[0]);
    close(sockets[1]);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0) abort();
    event = eventfd(0, 0);
    fd = fileno(file);
    for (int i = 0; i < COUNT; i++) {
        memcpy(places[i].in, text, SIZE);
        memcpy(places[i].out, text, SIZE);
    }
    fwrite(places[0].in, SIZE, 1, file);
    fflush(file);
}

int main(int argc, char **argv)
{
    fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    bool lists = argc > 1 && strcmp(argv[1], "list") == 0;
    for (int i = 0; i < COUNT; i++) {
        if (lists) puts(calls[i].name);
        chosen[i] = fixed;
        for (int n = 1; n < argc; n++) chosen[i] |= strcmp(calls[i].name, argv[n]) == 0;
    }
    if (lists) return 0;
    prepare();
    pthread_t a, b;
    pthread_create(&a, NULL, caller, NULL);
    pthread_create(&b, NULL, toucher, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
