/* memory_order.c — three fibers come twice each to a counter that one primitive keeps for them, for a program that
 * `raddle cc` builds. Nothing here races, whoever is woken by whom and gets the turn after whom; `bare` has no
 * primitive, and races. */
#include <raddle.h>
#include <stdbool.h>
#include <string.h>

enum { FIBERS = 3, TIMES = 2 };

static int counter;
static rad_mutex mutex;
static rad_cond changed;
static rad_rwlock lock;
static rad_semaphore permit;
static rad_barrier barrier;
static rad_chan *turns;
static bool taken;

static void bare(void)
{
    counter++;
}

static void in_mutex(void)
{
    rad_mutex_lock(&mutex);
    counter++;
    rad_mutex_unlock(&mutex);
}

static void in_time(void)
{
    while (rad_mutex_lock_until(&mutex, rad_after(1000)) != 0) {
    }
    counter++;
    rad_mutex_unlock(&mutex);
}

static void in_rwlock(void)
{
    rad_rwlock_read(&lock);
    int seen = counter;
    rad_rwlock_unlock(&lock);
    rad_rwlock_write(&lock);
    counter += seen <= counter;
    rad_rwlock_unlock(&lock);
}

static void by_permit(void)
{
    while (rad_semaphore_acquire(&permit, 1, RAD_FOREVER) != 0) {
    }
    counter++;
    rad_semaphore_release(&permit, 1);
}

static void by_condition(void)
{
    rad_mutex_lock(&mutex);
    while (taken) (void)!rad_cond_wait(&changed, &mutex, RAD_FOREVER);
    taken = true;
    rad_mutex_unlock(&mutex);
    counter++; /* whoever has taken it has it alone */
    rad_mutex_lock(&mutex);
    taken = false;
    rad_cond_broadcast(&changed);
    rad_mutex_unlock(&mutex);
}

static void by_channel(void)
{
    char turn = 0;
    if (rad_recv(turns, &turn, RAD_FOREVER) != 0) return;
    counter++;
    (void)!rad_send(turns, &turn, RAD_FOREVER);
}

static void by_select(void)
{
    char turn = 0;
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = turns, .value = &turn}};
    if (rad_select(cases, 1, RAD_FOREVER) != 0) return;
    counter++;
    (void)!rad_send(turns, &turn, RAD_FOREVER);
}

static int of_fibers[FIBERS];

static int comes(void *argument)
{
    void (*counts)(void) = *(void (**)(void))argument;
    for (int i = 0; i < TIMES; i++) counts();
    return 0;
}

/* Each has its own before the barrier, and all look after it. */
static int meets(void *argument)
{
    int *own = argument, sum = 0;
    for (int round = 1; round <= TIMES; round++) {
        *own = round;
        if (rad_barrier_wait(&barrier, RAD_FOREVER) < 0) return 1;
        for (int i = 0; i < FIBERS; i++) sum += of_fibers[i] == round;
        if (rad_barrier_wait(&barrier, RAD_FOREVER) < 0) return 1;
    }
    return sum != FIBERS * TIMES;
}

static int start(void *argument)
{
    rad_nursery n;
    bool to_meet = argument == NULL;
    char turn = 0;
    rad_semaphore_init(&permit, 1);
    rad_barrier_init(&barrier, FIBERS);
    if (rad_chan_create(&turns, sizeof turn, 1, RAD_CHAN_BLOCKS) != 0 || rad_send(turns, &turn, RAD_FOREVER) != 0)
        return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < FIBERS; i++) rad_nursery_go(&n, to_meet ? meets : comes, to_meet ? &of_fibers[i] : argument);
    int code = rad_nursery_wait(&n);
    rad_chan_destroy(turns);
    return code ? code : !to_meet && counter != FIBERS * TIMES;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*counts)(void);
    } all[] = {{"bare", bare},          {"mutex", in_mutex},      {"time", in_time},
               {"rwlock", in_rwlock},   {"semaphore", by_permit}, {"condition", by_condition},
               {"channel", by_channel}, {"select", by_select},    {"barrier", NULL}};
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
        static void (*counts)(void);
        counts = all[i].counts;
        if (strcmp(all[i].name, argv[1]) == 0) return rad_main(NULL, start, counts ? &counts : NULL, NULL);
    }
    return 2;
}
