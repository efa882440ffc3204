#include "exec_lockstep.h"

#include "exec_observe.h"
#include "exec_target.h"

#include <raddle/lab.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct walk {
    const exec_case *c;
    exec_state s;
    exec_lockstep_seen *seen;
    char *difference;
    uint32_t picks[CASE_WORKERS]; /* times a worker looked for a task, searches not counted */
} walk;

static bool differs(walk *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool differs(walk *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(k->difference, EXEC_DIFFERENCE, format, args);
    va_end(args);
    return false;
}

static bool contains(const char *words, const char *part)
{
    return strstr(words, part) != NULL;
}

/* The number after the first `before`; -1: there is none. */
static int number_after(const char *words, const char *before)
{
    const char *at = strstr(words, before);
    return at ? (int)strtol(at + strlen(before), NULL, 10) : -1;
}

static bool move(walk *k, exec_ref_move m)
{
    if (!exec_ref_allows(k->c, &k->s, m)) return differs(k, "the reference does not allow it");
    exec_ref_apply(k->c, &k->s, m);
    k->seen->moves[m.kind]++;
    return true;
}

/* ---- Workers ---------------------------------------------------------------------------------------------- */

static uint8_t source_of(const char *words)
{
    if (contains(words, "its newest") || contains(words, "its oldest")) return PLACE_DEQUE;
    if (contains(words, "from behind")) return PLACE_LATER;
    if (contains(words, "from its inbox")) return PLACE_INBOX;
    if (contains(words, "from the injector")) return PLACE_INJECTOR;
    return contains(words, "steals") ? PLACE_DEQUE : PLACES;
}

static bool takes(walk *k, uint8_t worker, const char *words)
{
    bool steals = contains(words, "steals ");
    int task = number_after(words, steals ? "steals task " : "takes task ");
    int victim = steals ? number_after(words, "of worker ") : worker;
    uint8_t source = source_of(words);
    if (task < 0 || victim < 0 || source == PLACES) return differs(k, "not understood");
    uint32_t behind = k->s.injector.count ? exec_ref_batch(k->c, k->s.injector.count) - 1 : 0;
    exec_ref_move m = {MOVE_TAKE, worker, source, (uint8_t)victim, false};
    m.tick = contains(words, "its oldest") || !exec_ref_allows(k->c, &k->s, m);
    if (m.tick && k->picks[worker] % 61 != 0) return differs(k, "the reference does not allow it");
    k->seen->ticks += m.tick;
    if (!move(k, m)) return false;
    if (k->s.current[worker] != task + 1) return differs(k, "the reference: task %d", k->s.current[worker] - 1);
    k->seen->sources[source]++;
    k->seen->stolen += steals;
    k->seen->stolen_later += steals && source == PLACE_LATER;
    if (source != PLACE_INJECTOR) return true;
    int moved = contains(words, "moves ") ? number_after(words, "moves ") : 0;
    k->seen->batches += moved > 0;
    return (uint32_t)moved == behind || differs(k, "the reference: moves %u", behind);
}

/* What follows the instruction, besides wakes. */
static bool same_extras(walk *k, const exec_state *before, uint8_t worker, const char *words)
{
    if (k->s.overflow) return true; /* more tasks than the reference holds: the rest is not known */
    uint8_t task = (uint8_t)(before->current[worker] - 1);
    const exec_ref_task *was = &before->tasks[task], *is = &k->s.tasks[task];
    const case_program *p = &k->c->programs[was->program];
    const case_instruction *i = was->next < p->length ? &p->code[was->next] : NULL;
    if (contains(words, "has to wait") != (is->place == PLACE_WAITS))
        return differs(k, "the reference: it %s", is->place == PLACE_WAITS ? "waits" : "goes on");
    bool refused = k->s.task_count > before->task_count && k->s.tasks[before->task_count].place == PLACE_REFUSED;
    if (contains(words, "refused") != refused) return differs(k, "the reference: refused %d", refused);
    if (refused && number_after(words, ", task ") != before->task_count)
        return differs(k, "the reference: task %d is refused", before->task_count);
    bool lacks = i != NULL && i->op == CASE_TRY_ACQUIRE && before->left[i->a] < i->b;
    if (contains(words, "not enough left") != lacks) return differs(k, "the reference: lacks %d", lacks);
    return !lacks || number_after(words, "left: ") == before->left[i->a] ||
           differs(k, "the reference: left %d", before->left[i->a]);
}

static bool executes(walk *k, uint8_t worker, const char *words)
{
    exec_state before = k->s;
    if (before.current[worker] == 0) return differs(k, "the reference: no current task");
    uint8_t task = (uint8_t)(before.current[worker] - 1);
    const exec_ref_task *t = &before.tasks[task];
    char expected[120];
    int n = snprintf(expected, sizeof expected, "task %d: ", task);
    exec_case_instruction_text(k->c, t->program, t->next, expected + n, sizeof expected - (size_t)n);
    size_t length = strlen(expected);
    if (strncmp(words, expected, length) != 0 || (words[length] != 0 && words[length] != ','))
        return differs(k, "the reference: %s", expected);
    return move(k, (exec_ref_move){MOVE_EXECUTE, worker, 0, 0, false}) &&
           same_extras(k, &before, worker, words + length);
}

static bool worker_step(walk *k, uint8_t worker, const rad_line *line)
{
    const char *words = line->words;
    if (strcmp(line->site, "pick") == 0) k->picks[worker]++;
    if (contains(words, "takes task ") || contains(words, "steals task ")) return takes(k, worker, words);
    if (strncmp(words, "task ", 5) == 0) return executes(k, worker, words);
    return !contains(words, "task ") || differs(k, "not understood");
}

/* ---- The rest --------------------------------------------------------------------------------------------- */

static bool event_step(walk *k, uint8_t event, const char *words)
{
    const case_event *e = &k->c->events[event];
    uint8_t injected = k->s.injector.count, argument = e->argument;
    if (contains(words, "calls ") || words[0] == 0) return true; /* the end is declared */
    if (!move(k, (exec_ref_move){MOVE_EVENT, event, 0, 0, false})) return false;
    if (e->kind == CASE_CLOSE) return contains(words, "shuts the gate") || differs(k, "no close");
    bool came = k->s.injector.count > injected;
    int task = came ? k->s.injector.at[injected] : -1;
    if (e->kind == CASE_START) {
        if (number_after(words, "task ") != argument) return differs(k, "another task");
        return contains(words, "refused") != came || differs(k, "the reference: %d", came);
    }
    if (number_after(words, "token ") != argument) return differs(k, "another token");
    return number_after(words, ", task ") == task || differs(k, "the reference: task %d", task);
}

static bool timer_step(walk *k, const char *words)
{
    if (!move(k, (exec_ref_move){MOVE_TIMER, 0, 0, 0, false})) return false;
    int task = k->s.injector.at[k->s.injector.count - 1];
    return number_after(words, "task ") == task || differs(k, "the reference: task %d", task);
}

static bool clock_step(walk *k, const char *words)
{
    if (!move(k, (exec_ref_move){MOVE_CLOCK, 0, 0, 0, false})) return false;
    return number_after(words, "it is ") == k->s.now || differs(k, "the reference: %d", k->s.now);
}

static bool line_step(walk *k, const rad_story *story, const rad_line *line)
{
    const char *actor = story->actors[line->actor];
    if (strncmp(actor, "worker", 6) == 0)
        return worker_step(k, actor[6] ? (uint8_t)strtoul(actor + 7, NULL, 10) : 0, line);
    if (strcmp(actor, "timer") == 0) return timer_step(k, line->words);
    if (strcmp(actor, "clock") == 0) return clock_step(k, line->words);
    return line->actor < k->c->event_count ? event_step(k, (uint8_t)line->actor, line->words)
                                           : differs(k, "an actor without an event");
}

static void count_end(walk *k, const char *kind, const char *outcome)
{
    for (uint32_t i = 0; i < EXEC_REF_KINDS; i++)
        k->seen->kinds[i] += kind != NULL && strcmp(kind, exec_ref_kinds[i]) == 0;
    for (uint32_t i = 0; i < OUTCOMES; i++)
        k->seen->outcomes[i] += outcome != NULL && strcmp(outcome, exec_ref_outcomes[i]) == 0;
}

static bool same_end(walk *k, const rad_story *story)
{
    const rad_verdict *v = &story->verdict;
    exec_seen seen;
    bool cut = strcmp(v->kind, "livelock") == 0 || strcmp(v->kind, "step-limit") == 0;
    bool ended = !cut && k->s.fault == FAULT_NONE;
    exec_seen_text(&seen, story->state);
    if (exec_seen_differs(&seen, k->c, &k->s, ended, k->difference, EXEC_DIFFERENCE)) return false;
    if (cut) {
        k->seen->cut++;
        return (k->c->max_steps > 0 && v->steps == k->c->max_steps) ||
               differs(k, "cut after %llu steps", (unsigned long long)v->steps);
    }
    const char *outcome, *kind = exec_ref_verdict(k->c, &k->s, &outcome);
    exec_ref_move moves[EXEC_REF_MOVES];
    if (exec_ref_moves(k->c, &k->s, false, moves) > 0) return differs(k, "the run ended; the reference has more to do");
    if (strcmp(kind ? kind : "", v->result == RAD_RESULT_FAILURE ? v->kind : "") != 0)
        return differs(k, "verdict '%s'; the reference: '%s'", v->kind, kind ? kind : "pass");
    const char *said = rad_exec_outcome(story);
    if (strcmp(said, outcome ? outcome : kind) != 0)
        return differs(k, "outcome %s; the reference: %s", said, outcome ? outcome : kind);
    count_end(k, kind, outcome);
    return true;
}

static bool follow(walk *k, const rad_story *story)
{
    char text[EXEC_DIFFERENCE];
    exec_ref_begin(k->c, &k->s);
    for (uint64_t i = 0; i < story->line_count; i++) {
        const rad_line *line = &story->lines[i];
        if (!line_step(k, story, line)) {
            snprintf(text, sizeof text, "step %llu, %s: %s: %.200s", (unsigned long long)line->step,
                     story->actors[line->actor], line->words, k->difference);
            memcpy(k->difference, text, sizeof text);
            return false;
        }
        if (k->s.overflow) return true;
    }
    k->seen->steps += story->line_count;
    return same_end(k, story);
}

bool exec_lockstep(const exec_case *c, const char *policy, uint64_t seed, exec_lockstep_seen *seen,
                   char difference[EXEC_DIFFERENCE])
{
    rad_error error = {.code = 0};
    rad_target t;
    if (!exec_target(c, "exec", &t)) {
        seen->refused_cases++;
        return true;
    }
    walk k = {.c = c, .seen = seen, .difference = difference};
    rad_artifact *artifact = NULL;
    rad_story *story = NULL;
    rad_verdict verdict;
    rad_run_request request = {.policy = policy, .seed = seed, .artifact = &artifact};
    bool same = false;
    if (rad_lab_run(&t, &request, &verdict, &error) != 0 || rad_lab_story(artifact, &story, &error) != 0)
        differs(&k, "%s", error.text);
    else
        same = follow(&k, story);
    seen->runs++;
    rad_story_free(story);
    rad_artifact_free(artifact);
    rad_target_free(&t);
    return same;
}
