/* program.c — threads as a document: the toy whose case is written by whoever has a question.
 *
 *     {"machine": "program", "threads": [["lock 0", "inc 1", "unlock 0"], ["inc 1"]]}
 *
 *     inc C       raises cell C by reading and writing it: two steps
 *     lock L      waits until lock L is free and takes it
 *     unlock L    gives it back
 *     skip        a step that does nothing anybody can see
 *
 * Cells and locks are numbered 0 … 7. When all threads have ended, a checker compares every cell with the
 * number of its increments. Twin: `inc` is one atomic fetch-and-add. */
#include "base/alloc.h"
#include "lab/case.h"
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

#include <stdio.h>
#include <string.h>

enum { READ, WRITE, LOCK, UNLOCK, SKIP, JOIN, LOOK };
enum { THREADS_MAX = 64, CODE_MAX = 1000, NAMES = 8 };

static const char *const program_sites[] = {
    [READ] = "thread: read",  [WRITE] = "thread: write",
    [LOCK] = "thread: lock",  [UNLOCK] = "thread: unlock",
    [SKIP] = "thread: skip",  [JOIN] = "checker: wait for the threads",
    [LOOK] = "checker: read", NULL,
};

/* ---- The document --------------------------------------------------------------------------------- */

enum verb { INC, TAKE, GIVE, REST, VERBS };
static const char *const verb_names[VERBS] = {"inc", "lock", "unlock", "skip"};

typedef struct instruction {
    enum verb verb;
    uint32_t name; /* of a cell or lock */
} instruction;

static bool instruction_read(const json_t *value, instruction *out)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    *out = (instruction){REST, 0};
    if (strcmp(text, verb_names[REST]) == 0) return true;
    for (uint32_t v = 0; v < REST; v++) {
        size_t length = strlen(verb_names[v]);
        if (strncmp(text, verb_names[v], length) != 0 || text[length] != ' ') continue;
        char digit = text[length + 1];
        *out = (instruction){(enum verb)v, (uint32_t)(digit - '0')};
        return digit >= '0' && digit < '0' + NAMES && text[length + 2] == 0;
    }
    return false;
}

static int thread_check(const rad_json_source *s, uint32_t number, const json_t *code)
{
    char place[48];
    uint32_t held = 0;
    snprintf(place, sizeof place, "threads[%u]", number);
    if (!json_is_array(code) || json_array_size(code) > CODE_MAX)
        return rad__json_bad(s, place, "a list of at most 1000 instructions", code);
    for (size_t i = 0; i < json_array_size(code); i++) {
        instruction in;
        const json_t *value = json_array_get(code, i);
        snprintf(place, sizeof place, "threads[%u][%zu]", number, i);
        if (!instruction_read(value, &in))
            return rad__json_bad(s, place, "\"skip\", or inc, lock or unlock with 0 … 7", value);
        uint32_t bit = UINT32_C(1) << in.name;
        if (in.verb == TAKE && held & bit)
            return rad__json_bad(s, place, "a lock that the thread has not taken yet", value);
        if (in.verb == GIVE && !(held & bit)) return rad__json_bad(s, place, "a lock that the thread has taken", value);
        if (in.verb == TAKE || in.verb == GIVE) held ^= bit;
    }
    snprintf(place, sizeof place, "threads[%u]", number);
    return held ? rad__json_bad(s, place, "every lock given back at the end", code) : 0;
}

static int program_check(const rad_json_source *s, const json_t *body)
{
    static const char *const keys[] = {"threads", NULL};
    const json_t *threads = json_object_get(body, "threads");
    size_t count = json_array_size(threads);
    int code = rad__json_only(s, body, "", keys);
    if (code != 0) return code;
    if (count < 1 || count > THREADS_MAX) return rad__json_bad(s, "threads", "a list of 1 to 64 threads", threads);
    for (uint32_t i = 0; i < count && code == 0; i++) code = thread_check(s, i, json_array_get(threads, i));
    return code;
}

/* ---- The machine ---------------------------------------------------------------------------------- */

typedef struct names {
    uint32_t cells, locks, nowhere;
    uint32_t raised[NAMES];
} names;

static void build_instruction(rad_vm *vm, const rad_case *c, names *n, instruction in)
{
    int32_t name = (int32_t)in.name;
    switch (in.verb) {
    case INC:
        n->raised[in.name]++;
        if (c->repaired) {
            vm_fetch_add_at(vm, WRITE, R0, n->cells, name, 1);
            break;
        }
        vm_load_at(vm, READ, R0, n->cells, name);
        vm_add(vm, R0, R0, 1);
        vm_store_at(vm, WRITE, n->cells, name, R0);
        break;
    case TAKE: vm_lock_at(vm, LOCK, n->locks, name); break;
    case GIVE: vm_unlock_at(vm, UNLOCK, n->locks, name); break;
    case REST:
    case VERBS: vm_load(vm, SKIP, R1, n->nowhere); break;
    }
}

static void program_build(rad_vm *vm, const rad_case *c)
{
    const rad_json_source s = {"body", NULL};
    json_t *body = rad__json_load(&s, c->body, strlen(c->body));
    const json_t *threads = json_object_get(body, "threads");
    uint32_t count = (uint32_t)json_array_size(threads), starts[THREADS_MAX];
    if (body == NULL) { /* it was fine a moment ago: memory */
        vm->failed = true;
        return;
    }
    names n = {.cells = rad__vm_cells(vm, "cell", NAMES, 0),
               .locks = rad__vm_mutexes(vm, "lock", NAMES),
               .nowhere = vm_cell(vm, "nothing", 0)};
    uint32_t lost = vm_about(vm, "lost update");
    for (uint32_t t = 0; t < count; t++) {
        const json_t *code = json_array_get(threads, t);
        starts[t] = vm_here(vm);
        for (size_t i = 0; i < json_array_size(code); i++) {
            instruction in;
            instruction_read(json_array_get(code, i), &in);
            build_instruction(vm, c, &n, in);
        }
        vm_end(vm);
    }
    json_decref(body);
    uint32_t checker = vm_here(vm);
    vm_join(vm, JOIN, 0, count);
    for (uint32_t i = 0; i < NAMES; i++) {
        if (n.raised[i] == 0) continue;
        vm_load_at(vm, LOOK, R0, n.cells, (int32_t)i);
        vm_claim(vm, R0, VM_EQ, (int32_t)n.raised[i], lost, "cell after all increments");
    }
    vm_end(vm);
    for (uint32_t t = 0; t < count; t++) rad__vm_thread(vm, "thread", starts[t], true);
    rad__vm_thread(vm, "checker", checker, true);
}

static const vm_toy program_toy = {.build = program_build, .sites = program_sites};

static int program_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    const rad_json_source s = {"body", error};
    const rad_json_source place = {NULL, error};
    *self = NULL;
    json_t *body = rad__json_load(&s, c->body, strlen(c->body));
    if (body == NULL) return error->code;
    int code = program_check(&place, body);
    json_decref(body);
    return code ? code : rad__vm_create(self, m, c, error);
}

/* ---- Smaller programs ------------------------------------------------------------------------------ */

/* What the numbers of a cursor mean. */
enum { STAGE, THREAD, PLACE };
enum { DROP_THREADS, DROP_INSTRUCTIONS, DROP_LOCKS, STAGES };

static void list_drop(json_t *list, uint32_t from, uint32_t to)
{
    for (uint32_t i = to; i-- > from;) json_array_remove(list, i);
}

static uint32_t list_size(const json_t *list)
{
    return (uint32_t)json_array_size(list);
}

/* The next lock towards the front goes, together with what gives it back. */
static bool drop_lock(json_t *code, uint32_t *place)
{
    for (uint32_t i = *place ? *place - 1 : list_size(code); i-- > 0;) {
        instruction in, other;
        instruction_read(json_array_get(code, i), &in);
        if (in.verb != TAKE) continue;
        *place = i + 1;
        for (uint32_t k = i + 1; k < list_size(code); k++) {
            instruction_read(json_array_get(code, k), &other);
            if (other.verb != GIVE || other.name != in.name) continue;
            json_array_remove(code, k);
            break;
        }
        json_array_remove(code, i);
        return true;
    }
    *place = 0;
    return false;
}

static bool program_drop(json_t *threads, rad_cursor *at)
{
    if (at->at[STAGE] == DROP_THREADS) {
        if (rad_cut_next(&at->cut, list_size(threads))) {
            list_drop(threads, at->cut.from, at->cut.to);
            return true;
        }
        at->at[STAGE]++;
    }
    for (; at->at[STAGE] < STAGES; at->at[STAGE]++, at->at[THREAD] = 0) {
        for (; at->at[THREAD] < list_size(threads); at->at[THREAD]++) {
            json_t *code = json_array_get(threads, at->at[THREAD]);
            if (at->at[STAGE] == DROP_LOCKS && drop_lock(code, &at->at[PLACE])) return true;
            if (at->at[STAGE] == DROP_LOCKS || !rad_cut_next(&at->cut, list_size(code))) continue;
            list_drop(code, at->cut.from, at->cut.to);
            return true;
        }
    }
    return false;
}

static bool program_reduce(const rad_case *from, rad_cursor *at, rad_case *to)
{
    const rad_json_source s = {"body", NULL};
    json_t *body = rad__json_load(&s, from->body, strlen(from->body));
    bool more = body != NULL && program_drop(json_object_get(body, "threads"), at);
    char *text = more ? json_dumps(body, JSON_COMPACT) : NULL;
    at->failed = body == NULL || (more && text == NULL);
    json_decref(body);
    if (text) to->body = text;
    return text != NULL;
}

/* A thread counts as much as an instruction. */
static uint64_t program_size(const rad_case *c)
{
    const rad_json_source s = {"body", NULL};
    json_t *body = rad__json_load(&s, c->body, strlen(c->body));
    const json_t *threads = json_object_get(body, "threads");
    uint64_t size = body ? list_size(threads) : UINT64_MAX;
    for (uint32_t i = 0; i < list_size(threads); i++) size += list_size(json_array_get(threads, i));
    json_decref(body);
    return size;
}

/* Threads are actors by number, and the checker comes after them. */
static uint32_t program_heir(const rad_case *from, const rad_case *to, const rad_cursor *at, uint32_t actor)
{
    (void)from, (void)to;
    if (at->at[STAGE] != DROP_THREADS || actor < at->cut.from) return actor;
    return actor < at->cut.to ? RAD_NONE : actor - (at->cut.to - at->cut.from);
}

const rad_machine rad__toy_program = {
    .name = "program",
    .about = "threads that you write: see docs/machines.md; cells must show every increment",
    .bug = "each increment is a read and a write: one of two that overlap is lost",
    .bug_site = WRITE,
    .body = "{\"threads\":[[\"lock 0\",\"inc 0\",\"unlock 0\",\"inc 1\"],"
            "[\"inc 1\",\"lock 0\",\"inc 0\",\"unlock 0\"]]}",
    .own = &program_toy,
    .create = program_create,
    .size = program_size,
    .reduce = program_reduce,
    .heir = program_heir,
    VM_BUILT,
};
