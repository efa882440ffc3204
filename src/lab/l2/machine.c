/* machine.c — a model as a machine: what the lab explores, replays and shrinks.
 *
 * The machines are made from the table of models when one is first asked for. */
#include "lab/l2/machine.h"

#include "base/alloc.h"
#include "base/error.h"
#include "lab/l2/l2.h"
#include "lab/machines.h"
#include "os/thread_pointer.h"

#include <stdio.h>
#include <string.h>

/* Ends of the table: named here, too, because a linker would export them if only the instrumented object did. */
extern RAD_INTERNAL const rad_model *const __start_l2models[];
extern RAD_INTERNAL const rad_model *const __stop_l2models[];

/* ---- Sites on trial ------------------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Is this point in a file that the model is about? */
static bool covers(const rad_model *m, const l2_site *s)
{
    if (strncmp(s->home, "models/", 7) == 0) return strcmp(base_name(s->home), base_name(m->file)) == 0;
    return rad__l2_site_is_of((uint32_t)(s - rad__l2_sites), m->covers ? m->covers : "");
}

/* Points on trial get the first numbers: what `explore` says about coverage is about them. */
static void number_sites(const rad_model *m, uint16_t *number, uint16_t *inverse, uint32_t *covered)
{
    uint32_t next = 0;
    for (int wanted = 1; wanted >= 0; wanted--) {
        for (uint32_t i = 0; i < rad__l2_point_count; i++) {
            if (covers(m, &rad__l2_sites[i]) != (wanted == 1)) continue;
            number[i] = (uint16_t)next;
            inverse[next++] = (uint16_t)i;
        }
        if (wanted == 1) *covered = next;
    }
}

/* ---- Life ---------------------------------------------------------------------------------------------- */

static void l2_destroy(void *self)
{
    l2 *l = self;
    if (l == NULL) return;
    if (rad__l2 == l) rad__l2_use(NULL);
    rad__l2_memory_close(l);
    rad__free(l->coarse);
    rad__free(l->site_number);
    rad__free(l->site_of);
    rad__free(l->site_names);
    rad__free(l);
    rad__donors_close();
}

static bool l2_open(l2 *l, rad_error *error)
{
    for (uint32_t i = 0; i <= l->thread_count; i++) l->threads[i].index = (uint8_t)i;
    l->threads[L2_MAIN].clock.at[L2_MAIN] = 1;
    l->coarse = rad__alloc(rad__l2_point_count, sizeof *l->coarse);
    l->site_number = rad__alloc(rad__l2_point_count, sizeof *l->site_number);
    l->site_of = rad__alloc(rad__l2_point_count, sizeof *l->site_of);
    l->site_names = rad__alloc(rad__l2_point_count, sizeof *l->site_names);
    if (!l->coarse || !l->site_number || !l->site_of || !l->site_names) {
        rad__error_memory(error);
        return false;
    }
    number_sites(l->model, l->site_number, l->site_of, &l->site_covered);
    for (uint32_t i = 0; i < rad__l2_point_count; i++)
        rad__l2_site_text(l->site_of[i], l->site_names[i], sizeof l->site_names[i]);
    return rad__l2_memory_open(l, error);
}

/* The static variables as the program was loaded: the image is taken before any model has run. */
static char *pristine;

static bool pristine_take(void)
{
    size_t size = (size_t)(__stop_l2data - __start_l2data);
    if (pristine != NULL) return true;
    pristine = rad__alloc(1, size + 1);
    if (pristine == NULL) return false;
    if (size) memcpy(pristine, __start_l2data, size);
    return true;
}

static int l2_create(void **self, const rad_machine *machine, const rad_case *c, rad_error *error)
{
    const rad_model *const *place = machine->own, *m = *place;
    ptrdiff_t number = place - __start_l2models;
    *self = NULL;
    if (!m->no_locals && !rad__thread_pointer_works()) /* what it shares would look like races */
        return rad__error(error, RAD_ELIMIT,
                          "%s needs threads with thread-local variables of their own, which this "
                          "machine cannot give them",
                          m->name);
    l2 *l = rad__alloc(1, sizeof *l);
    if (l == NULL || !pristine_take()) {
        rad__free(l);
        return rad__error_memory(error);
    }
    rad__donors_open();
    l->model = m;
    l->data_image = pristine;
    l->extents = &rad__l2_extents[rad__l2_extent_of[number]];
    l->extent_count = rad__l2_extent_of[number + 1] - rad__l2_extent_of[number];
    l->c = *c;
    l->thread_count = m->thread_count ? m->thread_count(c) : m->threads;
    RAD_ASSERT(l->thread_count >= 1 && l->thread_count <= RAD_MODEL_THREADS_MAX);
    if (!l2_open(l, error)) {
        l2_destroy(l);
        return error->code;
    }
    *self = l;
    return 0;
}

/* ---- Runs ---------------------------------------------------------------------------------------------- */

/* Donors belong to a process: a worker that was forked asks anew. */
static bool l2_borrow(l2 *l)
{
    if (l->model->no_locals) return true;
    if (l->borrows && l->generation == rad__donors_generation()) return true;
    rad_error error = {0};
    for (uint32_t i = 1; i <= l->thread_count; i++) {
        l->threads[i].pointer = rad__donor(i - 1, &error);
        if (l->threads[i].pointer == NULL) {
            rad__kernel_error(l->k, error.code, error.text);
            return false;
        }
    }
    l->pointer = rad__thread_pointer_get();
    l->generation = rad__donors_generation();
    l->borrows = true;
    return true;
}

static void l2_reset(void *self, rad_kernel *k)
{
    l2 *l = self;
    rad__l2_use(l);
    l->k = k;
    l->timed = 0;
    l->busy++;
    k->round_state = rad__l2_round;
    rad__turns_are_long(k);
    l->now_ns = 1;
    l->jumps = 0;
    l->is_coarse = false;
    if (!l2_borrow(l)) return;
    rad__l2_memory_reset(l);
    l->threads[L2_MAIN].allocations = 0;
    for (uint32_t i = 0; i < l->thread_count; i++) {
        const char *role = l->model->thread_role ? l->model->thread_role(&l->c, i) : "thread";
        uint32_t actor = rad_actor(k, RAD_NONE, role);
        uint32_t action = rad_action(k, 0, actor, RAD_NONE, 0);
        if (RAD_UNLIKELY(action == RAD_NONE)) return;
        RAD_ASSERT(actor == i && action == i);
    }
    if (!rad__l2_alone(l, L2_PHASE_SETUP)) return;
    l->phase = L2_PHASE_RUN;
    for (uint32_t i = 1; i <= l->thread_count && !k->ended; i++) rad__l2_begin(l, i);
}

static enum rad_end l2_idle(void *self, rad_kernel *k)
{
    l2 *l = self;
    (void)k;
    rad__l2_use(l);
    for (uint32_t i = 1; i <= l->thread_count; i++)
        if (l->threads[i].state != L2_ENDED) return RAD_END_STUCK;
    rad__l2_alone(l, L2_PHASE_CHECK);
    return RAD_END_FINISHED;
}

static const char *l2_kind_name(const void *self, uint32_t kind)
{
    static const char *const names[] = {"step", "wakes"};
    (void)self;
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static const char *l2_site_name(const void *self, uint32_t site)
{
    const l2 *l = self;
    return site < l->site_covered ? l->site_names[site] : NULL;
}

/* ---- The table ------------------------------------------------------------------------------------------ */

enum { L2_MACHINES_MAX = 50 };

static const rad_param no_params[] = {{.name = NULL}};
static const char *const l2_oracles[] = {"data race", "use after free", "leak", "unseen write", "bad address", NULL};

uint32_t rad__l2_bug_site(const rad_model *m)
{
    static uint16_t number[UINT16_MAX], inverse[UINT16_MAX];
    uint32_t covered = 0;
    if (m->bug == NULL || m->bug_at == NULL) return RAD_NONE;
    number_sites(m, number, inverse, &covered);
    for (uint32_t i = 0; i < covered; i++)
        if (strcmp(rad__l2_sites[inverse[i]].function, m->bug_at) == 0) return i;
    return RAD_NONE;
}

static const char *about(const rad_model *m)
{
    static char texts[L2_MACHINES_MAX][160];
    static uint32_t used;
    if (m->no_locals || rad__thread_pointer_works() || used == L2_MACHINES_MAX) return m->about;
    snprintf(texts[used], sizeof texts[used], "%s (not on this machine)", m->about);
    return texts[used++];
}

static const char *l2_limits(const rad_machine *m, const rad_case *c)
{
    for (uint32_t i = 0; m->params[i].name; i++)
        if (strcmp(m->params[i].name, "coarse") == 0 && c->params[i] != 0)
            return "under sequential consistency, with operations that have models of their own as "
                   "one step";
    return "under sequential consistency";
}

const rad_machine *rad__l2_machine(uint32_t index)
{
    static rad_machine machines[L2_MACHINES_MAX];
    uint32_t count;
    const rad_model *const *models = rad__l2_models(&count);
    RAD_ASSERT(models == __start_l2models && models + count == __stop_l2models);
    RAD_ASSERT(count <= L2_MACHINES_MAX);
    if (index >= count) return NULL;
    rad_machine *m = &machines[index];
    if (m->name != NULL) return m;
    const rad_model *model = models[index];
    *m = (rad_machine){
        .name = model->name,
        .about = about(model),
        .params = model->params ? model->params : no_params,
        .oracles = l2_oracles,
        .bug = model->bug,
        .bug_site = rad__l2_bug_site(model),
        .limits = l2_limits,
        .progresses = true, /* threads.c says what they saw */
        .ends = true,       /* schedules are fair: core/fair.h */
        .self_test = true,
        .own = &models[index],
        .create = l2_create,
        .destroy = l2_destroy,
        .reset = l2_reset,
        .step = rad__l2_step,
        .idle = l2_idle,
        .kind_name = l2_kind_name,
        .site_name = l2_site_name,
    };
    return m;
}

/* A program that this file is linked into has the models, without naming any. */
__attribute__((constructor)) static void l2_is_linked(void)
{
    rad__machines_linked(rad__l2_machine);
}
