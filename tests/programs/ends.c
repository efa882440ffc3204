/* ends.c — ends in the way that its first argument names, if another fiber ran first; with a second one, before there
 * is anything to choose. */
#define OWN_MAIN
#include "planted.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const char *how;
static volatile bool ran;

/* One line: the stack is full at the write, or at the call, as the compiler has laid it out. */
static int deep(int n)
{
    volatile char page[4096];
    return (page[0] = (char)n) == n + 1000 ? 0 : deep(n + 1) + page[0];
}

static void *thread(void *arg)
{
    return arg;
}

static int end(void)
{
    pthread_t t;
    if (strcmp(how, "crash") == 0) *(volatile int *)8 = 1;
    if (strcmp(how, "abort") == 0) abort();
    if (strcmp(how, "kill") == 0) raise(SIGTERM);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "_exit") == 0) _exit(4);
    if (strcmp(how, "assert") == 0) assert(!ran && how[0] == 'b');
    if (strcmp(how, "overflow") == 0) return deep(1);
    if (strcmp(how, "loop") == 0)
        for (;;) ran = true;
    if (strcmp(how, "fork") == 0) return fork() < 0;
    if (strcmp(how, "execvp") == 0) return execvp("true", (char *[]){"true", NULL});
    if (strcmp(how, "system") == 0) return system("touch it_ran");
    if (strcmp(how, "popen") == 0) return popen("touch it_ran", "r") == NULL;
    if (strcmp(how, "pthread_create") == 0) return pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL);
    return 0;
}

static int bad(void *arg)
{
    (void)arg;
    rad_yield();
    return ran ? end() : 0;
}

static int good(void *arg)
{
    (void)arg;
    rad_yield();
    ran = true;
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(bad, good);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    printf("to be swallowed\n");
    fprintf(stderr, "this, too\n");
    if (argc > 2) {
        int code = end();
        if (code != 0) return code;
    }
    return rad_main(NULL, start, NULL, NULL);
}
