/* places.c — see places.h. */
#include "lab/programs/places.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "lab/json.h"
#include "lab/programs/source_line.h"
#include "os/debug_info.h"

#include <stdio.h>
#include <string.h>

/* ---- Names of the program's variables --------------------------------------------------------------------- */

/* Those that are used by their address, and those that programs have pointers to. */
static const char *const types[] = {"rad_mutex", "rad_rwlock", "rad_cond", "rad_semaphore", "rad_waitgroup", "rad_once",
                                    "rad_barrier", "rad_nursery", "rad_chan", "rad_pool", "rad_timer",
                                    "pthread_mutex_t", "pthread_cond_t", "pthread_rwlock_t", "pthread_spinlock_t",
                                    "pthread_barrier_t", "pthread_once_t", "sem_t", "mtx_t", "cnd_t",
                                    /* of std:: */
                                    "mutex", "timed_mutex", "recursive_mutex", "recursive_timed_mutex", "shared_mutex",
                                    "shared_timed_mutex", "condition_variable", NULL};

static bool variable_is_after(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const rad_variable *)a)->offset > ((const rad_variable *)b)->offset;
}

const rad_variable *rad__variables(const char *program, uint64_t *count)
{
    static rad_variable *variables;
    static uint64_t found;
    _Static_assert(sizeof variables->name == RAD_DEBUG_NAME_MAX, "names are not cut");
    _Static_assert(sizeof(rad_variable) == sizeof(rad_debug_name), "they are the same");
    if (variables == NULL && (variables = rad__alloc(RAD_VARIABLES_MAX, sizeof *variables))) {
        found = rad__debug_names(program, types, (rad_debug_name *)(void *)variables, RAD_VARIABLES_MAX);
        for (uint64_t i = 0; i < found; i++) {
            rad__text_clean(variables[i].name);
            rad__text_plain(variables[i].name);
        }
        rad__sort(variables, found, sizeof *variables, variable_is_after, NULL);
    }
    *count = variables ? found : 0;
    return variables;
}

/* ---- What the program told ---------------------------------------------------------------------------------- */

typedef struct spot {
    uint32_t module; /* RAD_NONE: not known */
    uint64_t offset;
} spot;

typedef struct call {
    spot at;
    uint32_t actor;
    bool begins, failed, full; /* a stack begins here: enum rad_stream_stack */
    char name[sizeof((rad_source_place *)0)->function];
} call;

/* A spot that was looked up; frames point into it. */
typedef struct found {
    spot at;
    uint32_t count;
    rad_source_place frames[RAD_DEBUG_FRAMES_MAX];
    struct found *next;
} found;

enum { BUCKETS = 64, MODULES_MAX = 256 };

struct rad_places {
    char *program;
    char *modules[MODULES_MAX];
    uint32_t module_count;
    spot *actors, *steps; /* RAD_STREAM_AT_MOST for each */
    spot *objects, *started;
    spot *cases; /* of select, in `offset` */
    uint32_t actor_capacity, object_capacity, started_capacity, step_capacity, case_capacity;
    uint64_t step;
    call *calls;
    uint32_t call_count, call_capacity;
    found *buckets[BUCKETS];
    rad_source_stack *stacks;
    rad_source_place *frames;
    rad_source_files *sources;
    bool failed; /* no memory */
};

rad_places *rad__places_open(const char *program)
{
    rad_places *p = rad__alloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->program = rad__copy_text(program);
    p->sources = rad__source_files_open();
    if (p->program && p->sources) return p;
    rad__places_close(p);
    return NULL;
}

void rad__places_clear(rad_places *p)
{
    for (uint32_t i = 0; i < p->module_count; i++) rad__free(p->modules[i]);
    for (uint32_t i = 0; i < BUCKETS; i++) {
        for (found *f = p->buckets[i], *next; f; f = next) {
            next = f->next;
            rad__free(f);
        }
        p->buckets[i] = NULL;
    }
    rad__free(p->actors);
    rad__free(p->objects);
    rad__free(p->started);
    rad__free(p->steps);
    rad__free(p->cases);
    rad__free(p->calls);
    rad__free(p->stacks);
    rad__free(p->frames);
    *p = (rad_places){.program = p->program, .sources = p->sources};
}

void rad__places_close(rad_places *p)
{
    if (p == NULL) return;
    rad__places_clear(p);
    rad__source_files_close(p->sources);
    rad__free(p->program);
    rad__free(p);
    rad__debug_close();
}

static void put_spot(rad_places *p, spot **list, uint32_t *capacity, uint64_t index, spot at)
{
    uint32_t before = *capacity;
    if (index >= UINT32_MAX / 2 || !RAD_GROW(list, capacity, (uint32_t)index + 1)) {
        p->failed = true;
        return;
    }
    for (uint32_t i = before; i < *capacity; i++) (*list)[i] = (spot){.module = RAD_NONE};
    (*list)[index] = at;
}

static void put_call(rad_places *p, const rad_record *r, const char *text)
{
    if (!RAD_GROW(&p->calls, &p->call_capacity, p->call_count + 1)) {
        p->failed = true;
        return;
    }
    call *c = &p->calls[p->call_count++];
    *c = (call){.at = {r->c, (uint64_t)r->value}, .actor = r->a};
    if (r->what == RAD_STREAM_STACK)
        *c = (call){
            .at.module = RAD_NONE, .actor = r->a, .begins = true, .failed = r->b != 0, .full = r->b == RAD_STACK_FULL};
    else
        snprintf(c->name, sizeof c->name, "%s", text);
}

/* The first of a call takes the place of the last call's. */
static void put_at(rad_places *p, const rad_record *r, spot at)
{
    uint64_t first = (uint64_t)r->a * RAD_STREAM_AT_MOST;
    for (uint32_t i = r->b; i < RAD_STREAM_AT_MOST; i++) {
        put_spot(p, &p->actors, &p->actor_capacity, first + i, at);
        at.module = RAD_NONE;
    }
}

bool rad__places_take(rad_places *p, const rad_record *r, const char *text)
{
    spot at = {r->c, (uint64_t)r->value};
    switch ((enum rad_stream_what)r->what) {
    case RAD_STREAM_MODULE:
        if (p->module_count == MODULES_MAX) return true;
        p->modules[p->module_count] = rad__copy_text(*text ? text : p->program);
        if (p->modules[p->module_count++] == NULL) p->failed = true;
        return true;
    case RAD_STREAM_AT: put_at(p, r, at); return true;
    case RAD_STREAM_MADE: put_spot(p, &p->objects, &p->object_capacity, r->a, at); return true;
    case RAD_STREAM_STARTED: put_spot(p, &p->started, &p->started_capacity, r->a, at); return true;
    case RAD_STREAM_SELECTED: put_spot(p, &p->cases, &p->case_capacity, p->step, (spot){0, r->a}); return true;
    case RAD_STREAM_STACK:
    case RAD_STREAM_FRAME: put_call(p, r, text); return true;
    default: return false;
    }
}

void rad__places_step(rad_places *p, uint64_t step, uint32_t actor)
{
    p->step = step;
    for (uint32_t i = 0; i < RAD_STREAM_AT_MOST; i++) {
        uint64_t from = (uint64_t)actor * RAD_STREAM_AT_MOST + i;
        spot at = from < p->actor_capacity ? p->actors[from] : (spot){.module = RAD_NONE};
        put_spot(p, &p->steps, &p->step_capacity, step * RAD_STREAM_AT_MOST + i, at);
    }
}

/* ---- Looking up ----------------------------------------------------------------------------------------------- */

static void clean(char *text)
{
    rad__text_clean(text);
    rad__text_plain(text);
}

static bool is_own(const rad_source_place *at)
{
    static const char *const others[] = {"/usr/include/", "/usr/lib/", NULL};
    for (const char *const *o = others; *o; o++)
        if (strncmp(at->file, *o, strlen(*o)) == 0) return false;
    return at->line > 0 && at->source[0];
}

static void fill_frame(rad_places *p, rad_source_place *to, const rad_debug_frame *from)
{
    _Static_assert(sizeof to->function == sizeof from->function, "nothing is cut");
    _Static_assert(sizeof to->file == sizeof from->file, "nothing is cut");
    memcpy(to->function, from->function, sizeof to->function);
    memcpy(to->file, from->file, sizeof to->file);
    to->line = from->line;
    if (from->line > 0)
        rad__source_line(p->sources, from->folder, from->file, from->line, to->source, sizeof to->source);
    clean(to->function);
    clean(to->file);
    clean(to->source);
    to->own = is_own(to);
}

static const found *look_up(rad_places *p, spot at)
{
    static rad_debug_frame frames[RAD_DEBUG_FRAMES_MAX];
    if (at.module >= p->module_count || p->modules[at.module] == NULL) return NULL;
    found **bucket = &p->buckets[(at.offset ^ at.module) % BUCKETS];
    for (found *f = *bucket; f; f = f->next)
        if (f->at.module == at.module && f->at.offset == at.offset) return f;
    found *f = rad__alloc(1, sizeof *f);
    if (f == NULL) {
        p->failed = true;
        return NULL;
    }
    f->at = at;
    f->count = rad__debug_code(p->modules[at.module], at.offset, frames);
    for (uint32_t i = 0; i < f->count; i++) fill_frame(p, &f->frames[i], &frames[i]);
    f->next = *bucket;
    *bucket = f;
    return f;
}

/* The innermost in the program's own code, or else the innermost that is known. */
static const rad_source_place *innermost(rad_places *p, const spot *at, uint32_t count)
{
    const rad_source_place *known = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const found *f = look_up(p, at[i]);
        for (uint32_t j = 0; f && j < f->count; j++) {
            if (f->frames[j].own) return &f->frames[j];
            if (known == NULL && f->frames[j].line > 0) known = &f->frames[j];
        }
    }
    return known;
}

const rad_source_place *rad__places_made(rad_places *p, uint32_t object)
{
    return object < p->object_capacity ? innermost(p, &p->objects[object], 1) : NULL;
}

const rad_source_place *rad__places_started(rad_places *p, uint32_t actor)
{
    return actor < p->started_capacity ? innermost(p, &p->started[actor], 1) : NULL;
}

const rad_source_place *rad__places_step_at(rad_places *p, uint64_t step)
{
    uint64_t at = step * RAD_STREAM_AT_MOST;
    if (at + RAD_STREAM_AT_MOST > p->step_capacity) return NULL;
    return innermost(p, &p->steps[at], RAD_STREAM_AT_MOST);
}

const rad_source_place *rad__places_pending(rad_places *p, uint32_t actor)
{
    uint64_t at = (uint64_t)actor * RAD_STREAM_AT_MOST;
    if (at + RAD_STREAM_AT_MOST > p->actor_capacity) return NULL;
    return innermost(p, &p->actors[at], RAD_STREAM_AT_MOST);
}

int rad__places_case(const rad_places *p, uint64_t step)
{
    if (step >= p->case_capacity || p->cases[step].module == RAD_NONE) return -1;
    return (int)p->cases[step].offset;
}

/* The frames of one call: several if it was inlined, its symbol if nothing else is known, or "program+0x12". */
static uint32_t put_frames(rad_places *p, const call *c, rad_source_place *to)
{
    const found *f = look_up(p, c->at);
    uint32_t count = f ? f->count : 0;
    for (uint32_t i = 0; i < count; i++) to[i] = f->frames[i];
    if (count > 0 && to[count - 1].function[0] == 0)
        snprintf(to[count - 1].function, sizeof to->function, "%s", c->name);
    if (count > 0) return count;
    *to = (rad_source_place){.line = 0};
    if (c->name[0]) {
        memcpy(to->function, c->name, sizeof to->function);
    } else if (c->at.module < p->module_count && p->modules[c->at.module]) {
        const char *path = p->modules[c->at.module], *slash = strrchr(path, '/');
        snprintf(to->function, sizeof to->function, "%.24s+0x%llx", slash ? slash + 1 : path,
                 (unsigned long long)c->at.offset);
    }
    clean(to->function);
    return to->function[0] ? 1 : 0;
}

static bool tell_stacks(rad_places *p, rad_story *s)
{
    uint32_t stacks = 0, frames = 0;
    for (uint32_t i = 0; i < p->call_count; i++) stacks += p->calls[i].begins;
    p->stacks = rad__alloc(stacks + 1, sizeof *p->stacks);
    p->frames = rad__alloc(p->call_count * RAD_DEBUG_FRAMES_MAX + 1, sizeof *p->frames);
    if (p->stacks == NULL || p->frames == NULL) return false;
    for (uint32_t i = 0; i < p->call_count; i++) {
        const call *c = &p->calls[i];
        if (c->begins) {
            p->stacks[s->stack_count++] = (rad_source_stack){
                .actor = c->actor, .failed = c->failed, .full = c->full, .frames = &p->frames[frames]};
        } else if (s->stack_count > 0) {
            uint32_t put = put_frames(p, c, &p->frames[frames]);
            p->stacks[s->stack_count - 1].frame_count += put;
            frames += put;
        }
    }
    s->stacks = p->stacks;
    return true;
}

bool rad__places_tell(rad_places *p, rad_story *s)
{
    for (uint64_t i = 0; i < s->line_count; i++) s->lines[i].at = rad__places_step_at(p, s->lines[i].step);
    bool told = tell_stacks(p, s);
    rad__debug_close();
    return told && !p->failed;
}
