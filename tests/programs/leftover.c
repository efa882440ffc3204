/* leftover.c — runs whose next operations depend on what an earlier run may have left: the word says what that is.
 * "crash" and the like end some of the runs. */
#define _GNU_SOURCE
#include <raddle.h>

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static rad_mutex m;
static int sum, count = 3;
static const char *what;
static char *early, *blocks[16];
static FILE *file;
static _Thread_local int own = 1;
static volatile sig_atomic_t hits;
static jmp_buf back;
static int inherited = -1, *shared;
static volatile int *volatile nowhere;

/* A difference in `value` is one in the trace. */
static void act(long value)
{
    for (long i = 0; i < (value & 3); i++) rad_yield();
    rad_mutex_lock(&m);
    sum += (int)value;
    rad_mutex_unlock(&m);
}

static void on_signal(int number)
{
    (void)number;
    hits++;
}

static void memory(long me)
{
    char text[20], *zeros = calloc(1, 200000);
    act(count++ + own++ + errno++);
    act(zeros[4000] + (early[700000] += 1) + early[100]);
    memset(zeros, 1, 200000);
    blocks[count % 16] = realloc(blocks[count % 16], (size_t)(me * count) * 100);
    if (me == 1) madvise(early, 1 << 19, MADV_DONTNEED);
    free(zeros);
    snprintf(text, sizeof text, "%d", count);
    act(getenv("LEFTOVER") != NULL);
    setenv("LEFTOVER", text, 1);
}

static void files(long me)
{
    int ends[2];
    FILE *f = fopen("left.txt", "w");
    assert(f != NULL && pipe(ends) == 0);
    act(ends[0] + fileno(f));
    if (file) fprintf(file, "%ld", me);
    act(file ? ftell(file) : 0);
    close(me == 1 ? 0 : ends[1]);
    act(dup(ends[0]));
}

static void signals(void)
{
    struct sigaction now;
    sigset_t set;
    sigaction(SIGUSR1, NULL, &now);
    act(now.sa_handler == SIG_DFL);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    act(hits);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &set);
    act(sigismember(&set, SIGUSR2));
}

static void on_fault(int number)
{
    (void)number;
    hits++;
    _longjmp(back, 1); /* without the mask: the signal stays blocked */
}

/* "handler": the one installs it, and the other one has the fault. */
static void faults(long me, bool alone)
{
    struct sigaction action = {.sa_handler = on_fault};
    if (me == 1) sigaction(SIGSEGV, &action, NULL);
    act(0);
    if (me == (alone ? 1 : 2) && _setjmp(back) == 0) *nowhere = 1;
    act(hits);
}

/* What malloc gave before the first decision. */
static void heap(long me)
{
    char *fresh = malloc(1 << 20);
    act(blocks[0][me]++);
    free(blocks[me]);
    blocks[me] = fresh;
    act(blocks[0][1] + blocks[0][2]);
}

static void draws(void)
{
    act(rand());
    act(random());
    act(lrand48());
}

static void reads(void)
{
    char byte = 0;
    if (read(inherited, &byte, 1) != 1) abort();
    act(byte);
}

/* Not again in another process: it counts what all of them do. */
static void fails_once(bool dies)
{
    if (++*shared != 30) return;
    if (dies) raise(SIGSEGV);
    assert(!"the thirtieth");
}

static int body(void *arg)
{
    long me = (long)arg;
    char place[4096];
    if (strcmp(what, "faults") == 0 || strcmp(what, "handler") == 0) faults(me, what[0] == 'f');
    if (strcmp(what, "heap") == 0) heap(me);
    if (strcmp(what, "draws") == 0) draws();
    if (strcmp(what, "reads") == 0) reads();
    if (strncmp(what, "once", 4) == 0) fails_once(strcmp(what, "once dies") == 0);
    if (strncmp(what, "memory", 6) == 0) memory(me);
    if (strncmp(what, "files", 5) == 0) files(me);
    if (strcmp(what, "signals") == 0) signals();
    if (strcmp(what, "place") == 0) {
        act((long)strlen(getcwd(place, sizeof place)));
        if (chdir("..") != 0) return 1;
        act(umask(077));
    }
    act(me);
    if (strcmp(what, "crash") == 0 && sum == 1 && me == 1) raise(SIGSEGV);
    if (strcmp(what, "unmaps") == 0 && me == 1) munmap(early, 1 << 20);
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, body, (void *)1);
    rad_nursery_go(&n, body, (void *)2);
    return rad_nursery_wait(&n);
}

/* Before raddle's library knows of the program: descriptors and shared memory as if another program had left them. */
__attribute__((constructor)) static void inherits(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "reads") == 0) inherited = open("digits.txt", O_RDONLY);
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 3; i++) blocks[i] = strcmp(what, "heap") == 0 ? calloc(1, 2 << 20) : NULL;
    early = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(early, 1, 1 << 20);
    if (strcmp(what, "files before") == 0) file = fopen("before.txt", "w");
    return rad_main(NULL, start, NULL, NULL);
}
