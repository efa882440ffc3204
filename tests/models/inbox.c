/* inbox.c — tasks from many senders for one receiver: each arrives once, those of one sender in order, and a
 * receiver that finds nothing although something was sent completely is a failure. */
#include "exec/inbox.h"
#include "lab/l2/model.h"

enum { SENDERS, TASKS, POPS };
enum { SENDERS_MAX = 3, TASKS_MAX = 4 };

typedef struct item {
    rad_task task;
    uint64_t content; /* plain: published by the queue */
} item;

static rad_inbox inbox;
static item items[SENDERS_MAX * TASKS_MAX];
static uint32_t arrived[SENDERS_MAX]; /* of the receiver */

static uint32_t inbox_threads(const rad_case *c)
{
    return 1 + (uint32_t)c->params[SENDERS];
}

static const char *inbox_role(const rad_case *c, uint32_t thread)
{
    (void)c;
    return thread == 0 ? "receiver" : "sender";
}

static void inbox_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&inbox.last, sizeof inbox.last, "last");
    rad__model_name(&inbox.first, sizeof inbox.first, "first");
    rad__model_name(&inbox.anchor, sizeof inbox.anchor, "anchor");
    rad__model_name(items, sizeof items, "task");
    rad__inbox_open(&inbox);
}

static bool receive(void)
{
    item *i = (item *)rad__inbox_pop(&inbox);
    if (i == NULL) return false;
    uint32_t number = (uint32_t)(i - items), sender = number / TASKS_MAX;
    RAD_MODEL_ASSERT(i->content == number + 1);
    RAD_MODEL_ASSERT(arrived[sender] == number % TASKS_MAX);
    arrived[sender]++;
    return true;
}

static void inbox_body(const rad_case *c, uint32_t thread)
{
    if (thread == 0) {
        for (int64_t i = 0; i < c->params[POPS]; i++) receive();
        return;
    }
    for (uint32_t i = 0; i < (uint32_t)c->params[TASKS]; i++) {
        item *one = &items[(thread - 1) * TASKS_MAX + i];
        one->content = (uint64_t)(one - items) + 1;
        rad__inbox_push(&inbox, &one->task);
    }
}

static void inbox_check(const rad_case *c)
{
    uint64_t sent = (uint64_t)(c->params[SENDERS] * c->params[TASKS]), came = 0;
    for (uint32_t i = 0; i < SENDERS_MAX; i++) came += arrived[i];
    RAD_MODEL_ASSERT(rad__inbox_is_empty(&inbox) == (came == sent));
    while (receive()) came++;
    RAD_MODEL_ASSERT(came == sent);
    RAD_MODEL_ASSERT(rad__inbox_is_empty(&inbox));
}

static const rad_param inbox_params[] = {
    [SENDERS] = {"senders", 2, 1, SENDERS_MAX, "threads that send", false},
    [TASKS] = {"tasks", 1, 1, TASKS_MAX, "tasks of each", false},
    [POPS] = {"pops", 2, 1, 8, "attempts of the receiver", false},
    {.name = NULL},
};

RAD_MODEL(inbox, .name = "l2-inbox", .about = "a worker's inbox: senders against the receiver", .params = inbox_params,
          .covers = "inbox", .no_locals = true, .thread_count = inbox_threads, .thread_role = inbox_role,
          .setup = inbox_setup, .body = inbox_body, .check = inbox_check);
