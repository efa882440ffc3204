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
static int inherited = -1, files_made, *shared;
static rad_mutex others[2];
static unsigned char wide[600000];
static char *rare;
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
    act(files_made++);
    close(me == 1 ? 0 : ends[1]);
    act(dup(ends[0]));
}

static void signals(void)
{
    static char room[64 << 10];
    struct sigaction now;
    sigset_t set;
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room}, before;
    sigaltstack(NULL, &before);
    act(before.ss_flags & SS_DISABLE ? 1 : 2);
    sigaltstack(&stack, NULL);
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

/* From the thirtieth on each dies, of this first, and of that in any later one. */
static void fails_otherwise(void)
{
    if (++*shared >= 30) raise(*shared == 30 ? SIGSEGV : SIGFPE);
}

/* More pages than are kept together, each of which is changed at its beginning and at its end. */
static void changes_all(long me)
{
    enum { PAGE = 4096 };
    long wrong = 0;
    for (size_t i = PAGE; me == 1 && i < sizeof wide; i += PAGE) {
        wrong += wide[i - 1] != (unsigned char)(7 * (i - 1) % 251);
        wrong += wide[i] != (unsigned char)(7 * i % 251);
        wide[i - 1] = wide[i] = 0xff;
    }
    act(wrong);
    if (wrong) abort();
}

/* From the fifth run on a page is used that none has used before; from the five hundredth on another part of it. */
static void changes_late(long me)
{
    int run = me == 1 ? ++*shared : *shared;
    if (rare[0] || rare[3000]) abort();
    act(me);
    if (run >= 5) rare[0] = me == 2;
    if (run >= 500) rare[3000] = me == 2;
}

/* As many steps, and other ones. */
static void locks_another(long me)
{
    rad_mutex *one = &others[me == 1 ? ++*shared % 2 : 0];
    rad_mutex_lock(one);
    rad_mutex_unlock(one);
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
    if (strcmp(what, "wide") == 0) changes_all(me);
    if (strcmp(what, "late") == 0) changes_late(me);
    if (strcmp(what, "other steps") == 0) locks_another(me);
    if (strcmp(what, "otherwise") == 0) fails_otherwise();
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
    rare = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rare[1] = 1;
    for (size_t i = 0; i < sizeof wide; i++) wide[i] = (unsigned char)(7 * i % 251);
    if (strcmp(what, "files before") == 0) file = fopen("before.txt", "w");
    return rad_main(NULL, start, NULL, NULL);
}
