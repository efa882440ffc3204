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
    uint64_t seed, start, fuel, slice;
    bool handled;
} plan;

static const uint32_t ns[] = {1, 2, 3, 7, 0};
static char *trace_before;

/* ---- The handler, as suite.js has it ---------------------------------------------------------------------- */

/* The state of a coroutine: how often it was asked, and a sum of what it was told. */
typedef struct memory {
    uint32_t calls, sum;
} memory;

static void remember(memory *m, const rad_session_value *v)
{
    bool is_text = rad_wasm_value_type(v) == RAD_VALUE_TEXT;
    m->sum += is_text ? rad_wasm_value_length(v) : (uint32_t)rad_wasm_value_number(v);
}

static void answer(rad_wasm_vm *vm, rad_effect *e, const char *name, uint32_t i, uint32_t type, const memory *m)
{
    uint64_t draw = rad_wasm_effect_number(e, RAD_WASM_EFFECT_DRAW);
    if (type == RAD_VALUE_TEXT) {
        char *text = rad_wasm_take(200);
        if (text == NULL) exit(1);
        int length = snprintf(text, 200, "%s-%u-%u", name, m->calls, i);
        rad_wasm_answer_text(vm, e, i, text, (uint32_t)length);
    } else if (type == RAD_VALUE_BOOL) {
        rad_wasm_answer_number(e, i, type, (m->calls + i) % 2 == 0);
    } else {
        rad_wasm_answer_number(e, i, type, (int64_t)(draw ^ ((uint64_t)m->sum + i)));
    }
}

static void answer_all(rad_wasm_vm *vm, rad_effect *e, const memory *m)
{
    uint64_t kind = rad_wasm_effect_number(e, RAD_WASM_EFFECT_KIND);
    if (kind == RAD_EFFECT_SELECT) {
        uint64_t draw = rad_wasm_effect_number(e, RAD_WASM_EFFECT_DRAW) >> 7;
        uint32_t option = (uint32_t)(draw % rad_wasm_effect_number(e, RAD_WASM_EFFECT_OPTIONS));
        rad_wasm_choose(e, option);
        for (uint32_t i = 0; i < rad_wasm_option_fields(e, option); i++)
            answer(vm, e, rad_wasm_option_name(e, option), i, rad_wasm_option_type(e, option, i), m);
    }
    const char *name = rad_wasm_effect_text(e, RAD_WASM_EFFECT_NAME);
    uint64_t fields = rad_wasm_effect_number(e, RAD_WASM_EFFECT_FIELDS);
    for (uint32_t i = 0; kind == RAD_EFFECT_PRODUCE && i < fields; i++)
        answer(vm, e, name, i, rad_wasm_value_type(rad_wasm_effect_field(e, i)), m);
}

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "wasm_native: %s\n", what);
    exit(1);
}

enum { TWIN, EDGES }; /* numbers of handlers */

/* Numbers of things that are not there are answered with nothing, and answers that cannot be held are none. */
static void look_at_edges(rad_wasm_vm *vm, rad_effect *e)
{
    uint32_t options = (uint32_t)rad_wasm_effect_number(e, RAD_WASM_EFFECT_OPTIONS);
    require(options == 2 && rad_wasm_option_fields(e, 1) == 1, "the choice is another one");
    require(rad_wasm_effect_text(e, RAD_WASM_EFFECT_NAME + 1) == NULL, "a text too many");
    require(rad_wasm_effect_number(e, RAD_WASM_EFFECT_OPTIONS + 1) == 0, "a number too many");
    require(rad_wasm_effect_field(e, RAD_EFFECT_FIELDS_MAX) == NULL, "a field too many");
    require(rad_wasm_option_name(e, options) == NULL, "a name too many");
    require(rad_wasm_option_partner(e, options) == NULL, "a partner too many");
    require(rad_wasm_option_fields(e, options) == 0, "fields of nothing");
    require(rad_wasm_option_type(e, 1, 0) == RAD_VALUE_TEXT, "the type of its field");
    require(rad_wasm_option_type(e, 1, 1) == 0, "a type too many");
    rad_effect before = *e;
    rad_wasm_answer_number(e, RAD_EFFECT_FIELDS_MAX, RAD_VALUE_INT, 7);
    require(memcmp(&before, e, sizeof before) == 0, "a number too many was taken");
    rad_wasm_choose(e, 1);
    for (uint32_t i = 0; i < RAD_EFFECT_FIELDS_MAX + 2; i++) {
        char *text = rad_wasm_take(2);
        require(text != NULL, "no memory");
        rad_wasm_answer_text(vm, e, i / 2 % RAD_EFFECT_FIELDS_MAX, text, 1);
        bool is_one = rad_wasm_effect_number(e, RAD_WASM_EFFECT_FIELDS) == 1;
        require(is_one == (i < RAD_EFFECT_FIELDS_MAX), "texts that cannot be held");
    }
    rad_wasm_choose(e, 1);
    rad_wasm_answer_text(vm, e, RAD_EFFECT_FIELDS_MAX, rad_wasm_take(2), 1);
    require(rad_wasm_effect_number(e, RAD_WASM_EFFECT_FIELDS) == UINT32_MAX, "a text too many");
}

int rad_wasm_invoke(rad_wasm_vm *vm, uint32_t handler, rad_effect *e)
{
    if (handler == EDGES) {
        look_at_edges(vm, e);
        return 1000; /* no result there is: it has failed */
    }
    uint64_t state = rad_wasm_state(e), kind = rad_wasm_effect_number(e, RAD_WASM_EFFECT_KIND);
    uint64_t draw = rad_wasm_effect_number(e, RAD_WASM_EFFECT_DRAW);
    memory m = {(uint32_t)state + 1, (uint32_t)(state >> 32)};
    bool stays = m.calls % 5 == 3 || draw % 127 <= 1; /* blocked, failed or nonsense */
    bool asked = kind == RAD_EFFECT_PRODUCE || kind == RAD_EFFECT_SELECT;
    for (uint32_t i = 0; !stays && kind == RAD_EFFECT_CONSUME && i < rad_wasm_effect_number(e, RAD_WASM_EFFECT_FIELDS);
         i++)
        remember(&m, rad_wasm_effect_field(e, i));
    rad_wasm_set_state(e, (uint64_t)m.sum << 32 | m.calls);
    if (m.calls % 5 == 3) return RAD_EFFECT_BLOCKED;
    if (draw % 127 == 0) return RAD_EFFECT_FAILED;
    if (draw % 127 == 1)
        rad_wasm_answer_nonsense(e);
    else if (asked)
        answer_all(vm, e, &m);
    return RAD_EFFECT_DONE;
}

/* ---- Runs ------------------------------------------------------------------------------------------------- */

static rad_wasm_vm *open_plan(const plan *p, uint32_t log)
{
    rad_wasm_vm *vm =
        rad_wasm_open(p->text, p->size, p->n, p->policy, p->capacity, RAD_FULL_BLOCK, p->seed, p->start, log);
    if (vm == NULL) exit(1);
    if (rad_wasm_code(vm) != 0) return vm;
    if (p->handled && rad_wasm_handle(vm, NULL, TWIN) != 0) exit(1);
    rad_wasm_sessions(vm, NULL, p->sessions);
    return vm;
}

static void check_edges(void)
{
    static const char text[] = "protocol P { roles A, B choice at A { A -> B: x } or { A -> B: y(text) } }";
    plan p = {.text = text, .size = sizeof text - 1, .capacity = 1};
    rad_wasm_close(NULL);
    rad_wasm_vm *vm = open_plan(&p, 0);
    require(rad_wasm_handle(vm, "x", EDGES) == 0 && rad_wasm_code(vm) == 0, "a handler");
    require(rad_wasm_handle(vm, "z", EDGES) == RAD_EINPUT && rad_wasm_code(vm) == RAD_EINPUT, "of nothing");
    require(rad_wasm_sessions(vm, "P", 1) == 0 && rad_wasm_run(vm, 0) == RAD_SESSION_COMPLETE, "a run");
    rad_wasm_look(vm);
    require(rad_wasm_number(vm, RAD_WASM_FAULTED) == 1, "a result that there is not");
    require(rad_wasm_number(vm, RAD_WASM_ENDED + 1) == 0, "a number too many");
    require(rad_wasm_coroutine(vm, 1) == 1 && rad_wasm_coroutine(vm, 2) == 0, "coroutines");
    require(rad_wasm_coroutine(vm, 0) == 1, "the first coroutine");
    require(rad_wasm_coroutine_text(vm, RAD_WASM_COROUTINE_FAULT + 1) == NULL, "a text too many");
    require(rad_wasm_coroutine_number(vm, RAD_WASM_COROUTINE_REGISTERS + 1) == 0, "a number too many");
    uint64_t registers = rad_wasm_coroutine_number(vm, RAD_WASM_COROUTINE_REGISTERS);
    require(rad_wasm_register(vm, (uint32_t)registers) == NULL, "a register too many");
    rad_wasm_close(vm);
}

static void tell_register(const rad_session_value *v)
{
    if (rad_wasm_value_type(v) == RAD_VALUE_TEXT)
        printf("\"%s\"", rad_wasm_value_text(v));
    else if (rad_wasm_value_type(v) == RAD_VALUE_BOOL)
        printf("%s", rad_wasm_value_number(v) ? "true" : "false");
    else
        printf("%lld", (long long)rad_wasm_value_number(v));
}

static const char *or_else(const char *text, const char *other)
{
    return text ? text : other;
}

static void tell_coroutines(rad_wasm_vm *vm)
{
    static const char *const phases[] = {"idle", "ready", "blocked", "ended", "faulted"};
    for (uint32_t i = 0; rad_wasm_coroutine(vm, i); i++) {
        const char *words[7];
        uint64_t numbers[5];
        for (uint32_t k = 0; k < 7; k++) words[k] = rad_wasm_coroutine_text(vm, k);
        for (uint32_t k = 0; k < 5; k++) numbers[k] = rad_wasm_coroutine_number(vm, k);
        printf("  %s %s of %s: %s, %s", words[RAD_WASM_COROUTINE_SESSION], words[RAD_WASM_COROUTINE_THREAD],
               words[RAD_WASM_COROUTINE_ROLE], phases[numbers[RAD_WASM_COROUTINE_PHASE]],
               or_else(words[RAD_WASM_COROUTINE_WAITS], "no wait"));
        if (words[RAD_WASM_COROUTINE_FROM])
            printf(" %s>%s", words[RAD_WASM_COROUTINE_FROM], words[RAD_WASM_COROUTINE_TO]);
        printf(", %s, line %llu, %llu %llu [", or_else(words[RAD_WASM_COROUTINE_FAULT], "no fault"),
               (unsigned long long)numbers[RAD_WASM_COROUTINE_LINE],
               (unsigned long long)numbers[RAD_WASM_COROUTINE_EVENTS],
               (unsigned long long)numbers[RAD_WASM_COROUTINE_EFFECTS]);
        for (uint32_t k = 0; k < numbers[RAD_WASM_COROUTINE_REGISTERS]; k++) {
            printf("%s", k ? " " : "");
            tell_register(rad_wasm_register(vm, k));
        }
        printf("]\n");
    }
}

/* All fuel at once, or in slices. */
static int run_all(rad_wasm_vm *vm, const plan *p)
{
    uint64_t step = p->slice ? p->slice : p->fuel;
    int end = rad_wasm_run(vm, step);
    for (uint64_t used = step; end == RAD_SESSION_EXHAUSTED && used < p->fuel; used += step)
        end = rad_wasm_run(vm, step);
    return end;
}

static void tell_title(const plan *p)
{
    printf("%s seed=%llu sessions=%u capacity=%u start=%llu n=%u policy=%u fuel=%llu slice=%llu "
           "handled=%d: ",
           p->name, (unsigned long long)p->seed, p->sessions, p->capacity, (unsigned long long)p->start, p->n,
           p->policy, (unsigned long long)p->fuel, (unsigned long long)p->slice, p->handled);
}

/* The same run up to the end of its first slice: coroutines are told after the result, and looked at before. */
static void tell_first_slice(const plan *p)
{
    rad_wasm_vm *vm = open_plan(p, 0);
    if (rad_wasm_code(vm) == 0) {
        rad_wasm_run(vm, p->slice);
        tell_coroutines(vm);
    }
    rad_wasm_close(vm);
}

static void tell(const plan *p)
{
    static const char *const ends[] = {"complete", "exhausted", "stuck", "no memory", "waiting"};
    rad_wasm_vm *vm = open_plan(p, 1);
    bool refused = rad_wasm_code(vm) != 0;
    const char *trace = "";
    tell_title(p);
    if (refused) {
        printf("refused %s", rad_wasm_error(vm));
    } else {
        int end = run_all(vm, p);
        rad_wasm_look(vm);
        printf("%s %s", ends[end], rad_wasm_digest(vm));
        trace = rad_wasm_trace(vm, RAD_NONE, 1);
    }
    for (uint32_t i = RAD_WASM_ROUNDS; i <= RAD_WASM_ENDED; i++)
        printf(" %llu", refused ? 0 : (unsigned long long)rad_wasm_number(vm, i));
    bool same = trace_before != NULL && strcmp(trace, trace_before) == 0;
    char *copy = strdup(trace);
    printf("%s\n", same ? " same" : "");
    if (p->slice) tell_first_slice(p);
    printf("%s%s", refused ? "" : rad_wasm_report(vm), same ? "" : copy);
    free(trace_before);
    trace_before = copy;
    rad_wasm_close(vm);
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
    p = (plan){.name = name, .text = text, .size = size, .sessions = 3, .capacity = 1};
    p.seed = 5;
    p.fuel = SHORT;
    tell_all(p);
    p.seed = 6;
    p.fuel = ENOUGH;
    p.handled = true;
    for (p.slice = 0; p.slice <= SHORT; p.slice += SHORT) tell_all(p);
}

/* Fewer runs of more protocols; their texts are told, too. */
static void tell_random(uint64_t protocol)
{
    char name[40];
    snprintf(name, sizeof name, "random-%llu", (unsigned long long)protocol);
    char *text = rad_wasm_generate(protocol);
    if (text == NULL) exit(1);
    printf("%s:\n%s", name, text);
    plan p = {.name = name, .text = text, .size = (uint32_t)strlen(text), .sessions = 2};
    p.capacity = 1;
    p.seed = protocol;
    p.fuel = ENOUGH;
    for (p.start = 0; p.start <= 7; p.start += 7) tell_all(p);
    p.handled = true;
    p.start = 0;
    p.n = 2;
    p.policy = 1;
    p.slice = SHORT;
    tell(&p);
    p.start = 7;
    p.n = 0;
    p.policy = 2;
    p.slice = 0;
    tell(&p);
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
    rad_wasm_vm *before = NULL;
    for (int i = 0; i < 10; i++) {
        uint64_t instructions = 0;
        struct timespec begin, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        for (int k = 0; k < 50; k++) {
            rad_wasm_vm *vm = open_plan(&p, 0);
            rad_wasm_close(before); /* memory stays with the process, as it does in WebAssembly */
            rad_wasm_run(vm, 0);
            rad_wasm_look(vm);
            instructions += rad_wasm_number(vm, RAD_WASM_INSTRUCTIONS);
            before = vm;
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        if ((double)instructions / seconds > best) best = (double)instructions / seconds;
    }
    rad_wasm_close(before);
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
    check_edges();
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
