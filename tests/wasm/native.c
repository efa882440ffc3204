/* native.c — the runs of tests/wasm/suite.js, in the same order and told in the same words, by the native library.
 *
 *     wasm_native COUNT FILE...     every run of every file, and of so many random protocols
 *     wasm_native --bench FILE      instructions a second, with 1,000 sessions
 *
 * The two texts have to be equal byte by byte. A trace that is the one before it again is told as "same". */
#include "session/wasm/exports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TEXT_MOST = 1 << 20, ENOUGH = 20000, SHORT = 9 };

typedef struct plan {
    const char *name, *text;
    uint32_t size, n, policy, sessions, capacity;
    uint64_t seed, start, fuel;
} plan;

static const uint32_t ns[] = {1, 2, 3, 7, 0};
static char *trace_before;

static rad_wasm_result *run(const plan *p, uint32_t keep)
{
    rad_wasm_result *r = rad_wasm_run(p->text, p->size, p->n, p->policy, p->sessions, p->capacity,
                                      p->seed, p->start, p->fuel, keep);
    if (r == NULL) exit(1);
    return r;
}

static void tell(const plan *p)
{
    static const char *const ends[] = {"complete", "exhausted", "stuck", "no memory"};
    rad_wasm_result *r = run(p, 1);
    int end = rad_wasm_end(r);
    printf("%s seed=%llu sessions=%u capacity=%u start=%llu n=%u policy=%u fuel=%llu: %s %s",
           p->name, (unsigned long long)p->seed, p->sessions, p->capacity,
           (unsigned long long)p->start, p->n, p->policy, (unsigned long long)p->fuel,
           end < 0 ? "refused" : ends[end], end < 0 ? rad_wasm_error(r) : rad_wasm_digest(r));
    for (uint32_t i = RAD_WASM_ROUNDS; i <= RAD_WASM_FAULTED; i++)
        printf(" %llu", (unsigned long long)rad_wasm_number(r, i));
    const char *trace = rad_wasm_trace(r);
    bool same = trace_before != NULL && strcmp(trace, trace_before) == 0;
    printf("%s\n%s%s", same ? " same" : "", rad_wasm_report(r), same ? "" : trace);
    free(trace_before);
    trace_before = strdup(trace);
    rad_wasm_forget(r);
}

/* All N and policies. */
static void tell_all(plan p)
{
    for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
        for (p.n = ns[i], p.policy = 0; p.policy < 3; p.policy++) tell(&p);
}

static void tell_file(const char *name, const char *text, uint32_t size)
{
    static const uint64_t seeds[] = {1, 2, UINT64_MAX};
    plan p = {.name = name, .text = text, .size = size, .fuel = ENOUGH};
    for (size_t seed = 0; seed < 3; seed++)
        for (p.sessions = 1; p.sessions <= 4; p.sessions += 3)
            for (p.capacity = 1; p.capacity <= 3; p.capacity += 2)
                for (p.start = 0; p.start <= 7; p.start += 7) {
                    p.seed = seeds[seed];
                    tell_all(p);
                }
    p = (plan){name, text, size, 0, 0, 3, 1, 5, 0, SHORT};
    tell_all(p);
}

/* Fewer runs of more protocols; their texts are told, too. */
static void tell_random(uint64_t protocol)
{
    char name[40];
    snprintf(name, sizeof name, "random-%llu", (unsigned long long)protocol);
    char *text = rad_wasm_generate(protocol);
    if (text == NULL) exit(1);
    printf("%s:\n%s", name, text);
    plan p = {name, text, (uint32_t)strlen(text), 0, 0, 2, 1, protocol, 0, ENOUGH};
    for (p.start = 0; p.start <= 7; p.start += 7) tell_all(p);
    rad_wasm_give_back(text);
}

static char *read_text(const char *path, uint32_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, TEXT_MOST);
    if (f == NULL || text == NULL) {
        perror(path);
        exit(2);
    }
    *size = (uint32_t)fread(text, 1, TEXT_MOST - 1, f);
    fclose(f);
    return text;
}

/* The best of ten, in time of the processor: others use this machine, too. */
static void bench(const char *path)
{
    plan p = {.name = path, .n = 1, .sessions = 1000, .capacity = 1, .seed = 1};
    char *text = read_text(path, &p.size);
    p.text = text;
    double best = 0;
    for (int i = 0; i < 10; i++) {
        uint64_t instructions = 0;
        struct timespec begin, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        for (int k = 0; k < 50; k++) {
            rad_wasm_result *r = run(&p, 0);
            instructions += rad_wasm_number(r, RAD_WASM_INSTRUCTIONS);
            rad_wasm_forget(r);
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double seconds =
            (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        if ((double)instructions / seconds > best) best = (double)instructions / seconds;
    }
    printf("native: %.1f million instructions/s\n", best / 1e6);
    free(text);
}

int main(int count, char **words)
{
    if (count == 3 && strcmp(words[1], "--bench") == 0) {
        bench(words[2]);
        return 0;
    }
    if (count < 2) return 2;
    for (int i = 2; i < count; i++) {
        uint32_t size;
        char *text = read_text(words[i], &size);
        const char *slash = strrchr(words[i], '/');
        tell_file(slash ? slash + 1 : words[i], text, size);
        free(text);
    }
    uint64_t random_count = strtoull(words[1], NULL, 10);
    for (uint64_t i = 0; i < random_count; i++) tell_random(i);
    free(trace_before);
    return 0;
}
