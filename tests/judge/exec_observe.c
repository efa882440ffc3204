#include "exec_observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const places[PLACES] = {[PLACE_NOT_STARTED] = "not started", [PLACE_INJECTOR] = "in the injector",
                                           [PLACE_DEQUE] = "in the deque",      [PLACE_LATER] = "in the later queue",
                                           [PLACE_INBOX] = "in the inbox",      [PLACE_CURRENT] = "current",
                                           [PLACE_ASLEEP] = "sleeps",           [PLACE_WAITS] = "waits for token",
                                           [PLACE_REFUSED] = "refused",         [PLACE_ENDED] = "ended"};

/* Whether the text begins so; then *text is what follows. */
static bool skip(const char **text, const char *begin)
{
    size_t length = strlen(begin);
    if (strncmp(*text, begin, length) != 0) return false;
    *text += length;
    return true;
}

static bool number(const char **text, uint32_t *value)
{
    size_t digits = strspn(*text, "0123456789");
    *value = (uint32_t)strtoul(*text, NULL, 10);
    *text += digits;
    return digits > 0;
}

void exec_seen_begin(exec_seen *seen)
{
    memset(seen, 0, sizeof *seen);
    for (uint32_t i = 0; i < CASE_TASKS; i++) seen->tasks[i].place = PLACE_ENDED;
}

/* "task 1 (p0): in the later queue of worker 0, next 0: yield local, holds 1 of resource 0" */
static bool task_line(exec_seen *seen, const char *at)
{
    uint32_t task, next, held, resource;
    if (!number(&at, &task) || task >= CASE_TASKS) return false;
    at = strstr(at, "): ");
    if (at == NULL) return false;
    at += 3;
    exec_ref_task *t = &seen->tasks[task];
    uint8_t place = 0;
    while (place < PLACES && !skip(&at, places[place])) place++;
    const char *rest = strstr(at, ", next ");
    if (place == PLACES || rest == NULL) return false;
    rest += strlen(", next ");
    if (!number(&rest, &next)) return false;
    t->place = place;
    t->next = (uint8_t)next;
    while ((rest = strstr(rest, ", holds ")) != NULL) {
        rest += strlen(", holds ");
        if (!number(&rest, &held) || !skip(&rest, " of resource ") || !number(&rest, &resource) ||
            resource >= CASE_RESOURCES)
            return false;
        t->holds[resource] = (uint8_t)held;
    }
    return true;
}

/* "time 4; gate shut, counts 0: 0 alive, 0 credit of workers; done yes; first failure task 0" */
static bool time_line(exec_seen *seen, const char *at)
{
    uint32_t now, task = 0;
    if (!number(&at, &now)) return false;
    seen->now = (uint16_t)now;
    seen->shut = strstr(at, "gate shut") != NULL;
    if (!seen->shut && strstr(at, "gate open") == NULL) return false;
    seen->done = strstr(at, "done yes") != NULL;
    if (!seen->done && strstr(at, "done no") == NULL) return false;
    const char *failure = strstr(at, "first failure ");
    if (failure == NULL) return false;
    failure += strlen("first failure ");
    if (skip(&failure, "none")) return true;
    if (!skip(&failure, "task ") || !number(&failure, &task)) return false;
    seen->first_failure = (uint8_t)(task + 1);
    return true;
}

/* "tasks: 4, 0 runnable, 0 running, 2 ended, 2 refused; injector 0" */
static bool tasks_line(exec_seen *seen, const char *at)
{
    uint32_t n[5];
    if (sscanf(at, "%u, %u runnable, %u running, %u ended, %u refused", &n[0], &n[1], &n[2], &n[3], &n[4]) != 5)
        return false;
    seen->task_count = (uint8_t)n[0];
    seen->runnable = (uint8_t)n[1];
    seen->running = (uint8_t)n[2];
    seen->ended = (uint8_t)n[3];
    seen->refused = (uint8_t)n[4];
    return true;
}

static bool resource_line(exec_seen *seen, const char *at)
{
    uint32_t resource, left;
    if (!number(&at, &resource) || resource >= CASE_RESOURCES) return false;
    if (!skip(&at, ": ") || !number(&at, &left)) return false;
    seen->left[resource] = (uint8_t)left;
    return true;
}

void exec_seen_line(void *context, const char *line)
{
    exec_seen *seen = context;
    const char *at = line;
    bool good = true;
    if (skip(&at, "time "))
        good = time_line(seen, at);
    else if (skip(&at, "tasks: "))
        good = tasks_line(seen, at);
    else if (skip(&at, "task "))
        good = task_line(seen, at);
    else if (skip(&at, "resource "))
        good = resource_line(seen, at);
    if (!good) snprintf(seen->unknown, sizeof seen->unknown, "%s", line);
}

void exec_seen_text(exec_seen *seen, const char *lines)
{
    char line[400];
    exec_seen_begin(seen);
    while (*lines != 0) {
        size_t length = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        exec_seen_line(seen, line);
        lines += length + (lines[length] == '\n');
    }
}

static bool task_differs(const exec_seen *seen, const exec_state *s, uint8_t i, char *text, size_t size)
{
    const exec_ref_task *a = &seen->tasks[i], *b = &s->tasks[i];
    if (a->place != b->place) {
        snprintf(text, size, "task %d: %s; the reference: %s", i, places[a->place], places[b->place]);
        return true;
    }
    if (a->place == PLACE_ENDED) return false;
    if (a->next == b->next && memcmp(a->holds, b->holds, sizeof a->holds) == 0) return false;
    snprintf(text, size, "task %d: next %d, holds %d and %d; the reference: %d, %d and %d", i, a->next, a->holds[0],
             a->holds[1], b->next, b->holds[0], b->holds[1]);
    return true;
}

static bool counts_differ(const exec_seen *seen, const exec_state *s, char *text, size_t size)
{
    uint8_t n[PLACES] = {0};
    for (uint8_t i = 0; i < s->task_count; i++) n[s->tasks[i].place]++;
    int runnable = n[PLACE_INJECTOR] + n[PLACE_DEQUE] + n[PLACE_LATER] + n[PLACE_INBOX];
    if (seen->runnable == runnable && seen->running == n[PLACE_CURRENT] && seen->ended == n[PLACE_ENDED] &&
        seen->refused == n[PLACE_REFUSED])
        return false;
    snprintf(text, size, "%d runnable, %d running, %d ended, %d refused; the reference: %d, %d, %d, %d", seen->runnable,
             seen->running, seen->ended, seen->refused, runnable, n[PLACE_CURRENT], n[PLACE_ENDED], n[PLACE_REFUSED]);
    return true;
}

bool exec_seen_differs(const exec_seen *seen, const exec_case *c, const exec_state *s, bool ended, char *text,
                       size_t size)
{
    if (seen->unknown[0] != 0) {
        snprintf(text, size, "not understood: %s", seen->unknown);
        return true;
    }
    if (seen->task_count != s->task_count) {
        snprintf(text, size, "%d tasks; the reference: %d", seen->task_count, s->task_count);
        return true;
    }
    for (uint8_t i = 0; i < s->task_count; i++)
        if (task_differs(seen, s, i, text, size)) return true;
    if (counts_differ(seen, s, text, size)) return true;
    bool done = exec_ref_is_done(s);
    if (!ended) done &= seen->done; /* the workers have not yet declared it */
    if (seen->now == s->now && seen->shut == s->shut && seen->done == done && seen->first_failure == s->first_failure &&
        memcmp(seen->left, s->left, c->resource_count) == 0)
        return false;
    snprintf(text, size,
             "time %d, shut %d, done %d, failure %d, left %d and %d; the reference: %d, %d, %d, %d, "
             "%d and %d",
             seen->now, seen->shut, seen->done, seen->first_failure, seen->left[0], seen->left[1], s->now, s->shut,
             done, s->first_failure, s->left[0], s->left[1]);
    return true;
}
