/* kept.c — no bug: a fiber waits on a channel that only a place in memory knows, which the first argument names, while
 * another one works; then the channel is taken from there, and used. Nothing may be reported. */
#define OWN_MAIN
#include "planted.h"

#include <sys/mman.h>

struct keeper {
    struct keeper *next;
    char pad[40];
    rad_chan *chan;
};

static const char *where;
static struct keeper *list;
static _Thread_local rad_chan *local;
static uint64_t tagged;
static rad_chan **shared, **mapped, *plain;

static int receiver(void *arg)
{
    rad_chan *from = arg;
    int value;
    return rad_recv(from, &value, RAD_FOREVER);
}

static bool is(const char *name)
{
    return strcmp(where, name) == 0;
}

static void keep(rad_chan *chan)
{
    if (is("static")) plain = chan;
    if (is("heap")) {
        list = malloc(sizeof *list);
        list->next = malloc(sizeof *list);
        list->next->chan = chan;
    }
    if (is("local")) local = chan;
    if (is("tagged")) tagged = (uint64_t)(uintptr_t)chan | 3;
    if (is("shared")) *shared = chan;
    if (is("mapped")) *mapped = chan;
}

static rad_chan *kept(void)
{
    if (is("static")) return plain;
    if (is("heap")) return list->next->chan;
    if (is("local")) return local;
    if (is("tagged")) return (rad_chan *)(uintptr_t)(tagged & ~UINT64_C(3));
    return is("shared") ? *shared : *mapped;
}

__attribute__((noinline)) static int begin(void)
{
    rad_chan *chan;
    if (rad_chan_create(&chan, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    keep(chan);
    return rad_spawn(NULL, receiver, chan);
}

__attribute__((noinline)) static void scrub(void)
{
    volatile char used[2048];
    memset((char *)used, 0, sizeof used);
}

static int worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 9; i++) rad_yield();
    return 0;
}

static int start(void *arg)
{
    int value = 1, code = begin();
    rad_fiber f;
    (void)arg;
    scrub();
    if (code != 0 || rad_spawn(&f, worker, NULL) != 0) return 1;
    for (int i = 0; i < 20; i++) rad_yield();
    if (rad_join(f, NULL, RAD_FOREVER) != 0) return 1;
    return rad_send(kept(), &value, RAD_FOREVER);
}

int main(int argc, char **argv)
{
    where = argc > 1 ? argv[1] : "static";
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!is("shared")) {
        munmap(shared, 4096);
        shared = NULL;
    }
    mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return rad_main(NULL, start, NULL, NULL);
}
