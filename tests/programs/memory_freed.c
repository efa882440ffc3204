/* memory_freed.c — blocks that are used after they were freed, all under a lock, so that nothing is a race. NAME, and
 * `fixed` for the repaired one: `read`, `copy` and `twice` have a block that main freed before it started a thread,
 * `kept` one that it allocated. In `again` main gets and frees many blocks, and the threads use a new one. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct node *shared;
static bool fixed;

__attribute__((noinline)) static struct node *make(int value)
{
    struct node *n = malloc(sizeof *n);
    if (n == NULL) abort();
    n->value = value;
    n->next = NULL;
    return n;
}

__attribute__((noinline)) static void drop(struct node *n)
{
    free(n);
}

static void *reads(void *unused)
{
    pthread_mutex_lock(&mutex);
    if (shared && shared->value == 7) puts("seven");
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *copies(void *unused)
{
    struct node mine = {0, NULL};
    pthread_mutex_lock(&mutex);
    if (shared) memcpy(&mine, shared, sizeof mine);
    pthread_mutex_unlock(&mutex);
    if (mine.value == 7) puts("seven");
    return unused;
}

static void *drops(void *unused)
{
    pthread_mutex_lock(&mutex);
    drop(shared);
    if (fixed) shared = NULL;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *nothing(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* More than are kept, so memory comes back. */
static void churn(void)
{
    enum { MANY = 2000 };
    for (int i = 0; i < MANY; i++) drop(make(i));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        bool frees_first;
        void *(*one)(void *), *(*other)(void *);
    } all[] = {{"read", true, reads, nothing},
               {"copy", true, copies, nothing},
               {"twice", true, drops, nothing},
               {"kept", false, drops, reads},
               {"again", false, reads, copies}};
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++) {
        pthread_t a, b;
        if (strcmp(all[i].name, argv[1]) != 0) continue;
        shared = make(1);
        if (all[i].frees_first) drop(shared);
        if (all[i].frees_first && fixed) shared = NULL;
        if (strcmp(argv[1], "again") == 0) {
            drop(shared);
            churn();
            shared = make(2);
        }
        pthread_create(&a, NULL, all[i].one, NULL);
        pthread_create(&b, NULL, all[i].other, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        return 0;
    }
    fprintf(stderr, "usage: memory_freed NAME [fixed]\n");
    return 2;
}
