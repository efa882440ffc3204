/* starved.c — a reader that two writers shut out for ever: as long as one waits no reader gets in. With `fixed` they
 * wait for him. `tally`: they count what they do, so no state comes back. `errand`: two fibers send one value to and
 * fro, and nobody tells them to end. With other words somebody waits for long, and not for ever: until a writer has
 * made its rounds (`rounds`), for a mutex that is taken again and again (`mutex`; production hands it over after a
 * millisecond), or until a fiber chooses to end an errand (`chooses`). `bystander`: until the writers have made many
 * rounds, or a fiber tells them to end that can run all the time. `held`: a writer waits until who reads has made many
 * rounds; one that read beside it has left. */
#define OWN_MAIN
#include "planted.h"

#include <raddle/test.h>

static rad_rwlock lock;
static rad_mutex mutex;
static rad_chan *to, *fro;
static volatile bool done, wanted;
static bool gives_way, counts, chooses, bystands;
static unsigned rounds, tally; /* 0 rounds: for ever */

static int writer(void *arg)
{
    (void)arg;
    while (!done && (rounds == 0 || tally < rounds)) {
        if (gives_way && wanted) rad_mutex_lock(&mutex);
        rad_rwlock_write(&lock);
        rad_rwlock_unlock(&lock);
        if (rad_mutex_is_mine(&mutex)) rad_mutex_unlock(&mutex);
        tally += counts;
    }
    return 0;
}

static int reader(void *arg)
{
    (void)arg;
    if (gives_way) rad_mutex_lock(&mutex);
    wanted = true;
    rad_rwlock_read(&lock);
    done = true;
    rad_rwlock_unlock(&lock);
    if (gives_way) rad_mutex_unlock(&mutex);
    return 0;
}

static int bystander(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++) {
        rad_mutex_lock(&mutex);
        rad_mutex_unlock(&mutex);
    }
    done = true;
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, writer, NULL);
    rad_nursery_go(&n, writer, NULL);
    rad_nursery_go(&n, reader, NULL);
    if (bystands) rad_nursery_go(&n, bystander, NULL);
    return rad_nursery_wait(&n);
}

static int holds(void *arg)
{
    (void)arg;
    rad_rwlock_read(&lock);
    for (int i = 0; i < 1500; i++) rad_yield();
    rad_rwlock_unlock(&lock);
    return 0;
}

static int reads_briefly(void *arg)
{
    (void)arg;
    rad_rwlock_read(&lock);
    rad_yield();
    rad_rwlock_unlock(&lock);
    return 0;
}

static int writes_once(void *arg)
{
    (void)arg;
    rad_rwlock_write(&lock);
    rad_rwlock_unlock(&lock);
    return 0;
}

static int start_held(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, holds, NULL);
    rad_nursery_go(&n, reads_briefly, NULL);
    rad_nursery_go(&n, writes_once, NULL);
    return rad_nursery_wait(&n);
}

/* ---- A mutex ---------------------------------------------------------------------------------------------- */

static int hog(void *arg)
{
    (void)arg;
    while (!done) {
        rad_mutex_lock(&mutex);
        rad_yield();
        rad_mutex_unlock(&mutex);
        rad_yield();
    }
    return 0;
}

static int patient(void *arg)
{
    (void)arg;
    rad_mutex_lock(&mutex);
    done = true;
    rad_mutex_unlock(&mutex);
    return 0;
}

static int start_mutex(void *arg)
{
    (void)arg;
    return both(hog, patient);
}

/* ---- Errands ------------------------------------------------------------------------------------------------ */

static int there(void *arg)
{
    int value = 1;
    (void)arg;
    while (!(chooses && rad_choose(2)) && rad_send(to, &value, RAD_FOREVER) == 0 &&
           rad_recv(fro, &value, RAD_FOREVER) == 0) {
    }
    rad_chan_close(to, 0);
    return 0;
}

static int back(void *arg)
{
    int value;
    (void)arg;
    while (rad_recv(to, &value, RAD_FOREVER) == 0 && rad_send(fro, &value, RAD_FOREVER) == 0) {
    }
    return 0;
}

static int start_errand(void *arg)
{
    (void)arg;
    if (rad_chan_create(&to, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    if (rad_chan_create(&fro, sizeof(int), 0, RAD_CHAN_BLOCKS) != 0) return 1;
    return both(there, back);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    gives_way = strcmp(how, "fixed") == 0;
    bystands = strcmp(how, "bystander") == 0;
    rounds = strcmp(how, "rounds") == 0 ? 300 : bystands ? 2500 : 0;
    counts = rounds > 0 || strcmp(how, "tally") == 0;
    if (strcmp(how, "held") == 0) return rad_main(NULL, start_held, NULL, NULL);
    if (strcmp(how, "mutex") == 0) return rad_main(NULL, start_mutex, NULL, NULL);
    chooses = strcmp(how, "chooses") == 0;
    if (chooses || strcmp(how, "errand") == 0) return rad_main(NULL, start_errand, NULL, NULL);
    return rad_main(NULL, start, NULL, NULL);
}
