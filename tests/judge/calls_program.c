#include "calls_program.h"

#include "judge_set.h"

#include <stdio.h>
#include <string.h>

static bool spawns_job(uint8_t op)
{
    return op == CALLS_FORK || op == CALLS_SIBLING;
}

bool calls_is_job(const calls_program *p, uint8_t task)
{
    for (uint8_t i = 0; i < p->task_count; i++)
        for (uint8_t at = 0; at < p->length[i]; at++) {
            const calls_step *s = &p->code[i][at];
            if (!spawns_job(s->op) || s->a != task) continue;
            return s->op == CALLS_FORK || calls_is_job(p, i);
        }
    return false;
}

enum calls_op calls_op_of(const calls_program *p, uint8_t actor, uint8_t at)
{
    enum calls_op op = (enum calls_op)p->code[actor][at].op;
    bool is_job = actor < CALLS_TASKS && calls_is_job(p, actor);
    if (op == CALLS_SIBLING && !is_job) return CALLS_SPAWN;
    if (op == CALLS_RESPAWN && is_job) return CALLS_YIELD;
    if (op == CALLS_YIELD_GLOBAL && is_job) return CALLS_YIELD;
    if (op == CALLS_BLOCK && is_job) return CALLS_YIELD;
    return op;
}

bool calls_is_answer(enum calls_op op)
{
    return (op >= CALLS_YIELD && op <= CALLS_BLOCK) || op == CALLS_FAIL;
}

void calls_text(const calls_program *p, char text[CALLS_TEXT])
{
    static const char *const names[CALLS_OPS] = {
        "tick",  "spawn",   "spawn-global", "spawn-on",  "enter",        "enter-on", "enter-batch",
        "fork",  "sibling", "wait",         "yield",     "yield-global", "again",    "respawn",
        "block", "wake",    "wake-on",      "wake-here", "scratch",      "close",    "fail"};
    size_t used = (size_t)snprintf(text, CALLS_TEXT, "%d workers%s\n", p->workers, p->stop ? ", stop on failure" : "");
    for (uint8_t i = 0; i < CALLS_ACTORS; i++) {
        if (p->length[i] == 0) continue;
        if (i == CALLS_OUTSIDE)
            used += (size_t)snprintf(text + used, CALLS_TEXT - used, "  outside:");
        else
            used += (size_t)snprintf(text + used, CALLS_TEXT - used, "  task %d:", i);
        for (uint8_t at = 0; at < p->length[i]; at++) {
            const calls_step *s = &p->code[i][at];
            used += (size_t)snprintf(text + used, CALLS_TEXT - used, "%s %s %d %d", at ? ";" : "", names[s->op], s->a,
                                     s->b);
        }
        used += (size_t)snprintf(text + used, CALLS_TEXT - used, "\n");
    }
}

bool calls_cut(const calls_program *p, uint32_t n, calls_program *smaller)
{
    *smaller = *p;
    for (uint8_t i = 0; i < CALLS_ACTORS; i++) {
        if (n >= p->length[i]) {
            n -= p->length[i];
            continue;
        }
        calls_step *code = smaller->code[i];
        uint8_t left = --smaller->length[i];
        memmove(code + n, code + n + 1, (left - n) * sizeof *code);
        code[left] = (calls_step){0, 0, 0};
        return true;
    }
    if (n == 0 && p->workers > 1) smaller->workers /= 2;
    if (n == 1) smaller->stop = false;
    return n <= 1;
}

uint64_t calls_saw(uint64_t history, uint8_t at, uint64_t value)
{
    return judge_fold(judge_fold(history + 1, at), value);
}

uint64_t calls_digest(const calls_result *r)
{
    uint64_t h = 0;
    for (uint8_t i = 0; i < CALLS_ACTORS; i++) h = judge_fold(h, r->history[i]);
    for (uint8_t i = 0; i < CALLS_TASKS; i++) h = judge_fold(h, r->fate[i]);
    for (uint8_t i = 0; i < CALLS_COUNTERS; i++) h = judge_fold(h, r->counters[i]);
    h = judge_fold(judge_fold(h, r->scratch), r->ended);
    h = judge_fold(judge_fold(h, r->from_local), r->from_later);
    h = judge_fold(judge_fold(h, r->from_inbox), r->from_shared);
    return judge_fold(judge_fold(h, r->runs), (uint64_t)r->code);
}
