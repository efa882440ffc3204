/* machines.c — the table of machines, and targets: a machine with its parameters set.
 *
 * Built-in ones come first: the toys in the order of RAD_TOY_LIST, the executor, sessions, load, flows, the models of
 * L2 (where they are linked in) in the order of theirs; then those added, in the order of adding. */
#include "lab/machines.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "base/error.h"
#include "lab/case.h"
#include "lab/machines/executor/executor.h"
#include "lab/machines/flow/flow.h"
#include "lab/machines/load/load.h"
#include "lab/machines/session/session.h"
#include "lab/machines/toys/toys.h"

#include <stdio.h>
#include <string.h>

#define MACHINES_ROW(name) &rad__toy_##name,
static const rad_machine *const machines_own[] = {RAD_TOY_LIST(MACHINES_ROW) & rad__machine_exec, &rad__machine_session,
                                                  &rad__machine_load, &rad__machine_scenario, &rad__machine_flow};
#undef MACHINES_ROW

enum { MACHINES_OWN = sizeof machines_own / sizeof *machines_own, MACHINES_NAME_MAX = 40 };

static const rad_machine *(*machines_linked)(uint32_t index);
static const rad_machine **machines_added;
static uint32_t machines_added_count, machines_added_capacity;

/* ---- The table ------------------------------------------------------------------------------------ */

const rad_machine *rad_machine_at(uint32_t index)
{
    if (index < MACHINES_OWN) return machines_own[index];
    index -= MACHINES_OWN;
    static uint32_t linked = RAD_NONE;
    if (linked == RAD_NONE)
        for (linked = 0; machines_linked != NULL && machines_linked(linked) != NULL;) linked++;
    if (index < linked) return machines_linked(index);
    index -= linked;
    return index < machines_added_count ? machines_added[index] : NULL;
}

void rad__machines_linked(const rad_machine *(*at)(uint32_t index))
{
    machines_linked = at;
}

static const rad_machine *find_added(const char *name)
{
    for (uint32_t i = 0; i < machines_added_count; i++)
        if (strcmp(machines_added[i]->name, name) == 0) return machines_added[i];
    return NULL;
}

/* Those added come first: a new machine of raddle's does not take the name of one in a program. */
const rad_machine *rad_machine_find(const char *name)
{
    const rad_machine *m = find_added(name);
    if (m != NULL) return m;
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++)
        if (strcmp(m->name, name) == 0) return m;
    return NULL;
}

bool rad_machine_is_added(const rad_machine *m)
{
    for (uint32_t i = 0; i < machines_added_count; i++)
        if (machines_added[i] == m) return true;
    return false;
}

/* Names are typed in a shell, and stand before `=` and in file names: a-z, 0-9, - and _. */
static bool name_is_good(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (length == 0 || length > MACHINES_NAME_MAX || name[0] < 'a' || name[0] > 'z') return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

static int params_check(const rad_machine *m, rad_error *error)
{
    for (uint32_t i = 0; m->params && m->params[i].name; i++) {
        const rad_param *p = &m->params[i];
        if (i == RAD_PARAMS_MAX)
            return rad__error(error, RAD_EINPUT, "machine %s: more than %d parameters", m->name, RAD_PARAMS_MAX);
        if (!name_is_good(p->name))
            return rad__error(error, RAD_EINPUT, "machine %s: parameter \"%s\": a name is a-z, then a-z, 0-9, - or _",
                              m->name, p->name);
        if (p->min > p->max || p->default_value < p->min || p->default_value > p->max)
            return rad__error(error, RAD_EINPUT, "machine %s: %s: default %lld is not in %lld ... %lld", m->name,
                              p->name, (long long)p->default_value, (long long)p->min, (long long)p->max);
        if (rad__machine_param(m, p->name, strlen(p->name)) != i)
            return rad__error(error, RAD_EINPUT, "machine %s: two parameters are called %s", m->name, p->name);
    }
    return 0;
}

/* The default is in canonical form, so that it can be told from other documents by comparing texts. */
static int body_check(const rad_machine *m, rad_error *error)
{
    const rad_target defaults = {.machine = m};
    rad_target own;
    int status = rad__target_copy(&own, &defaults, error);
    if (status == 0 && m->body && strcmp(own.c.body, m->body) != 0)
        status = rad__error(error, RAD_EINPUT, "machine %s: the body has blanks: expected %.200s", m->name, own.c.body);
    rad_target_free(&own);
    return status;
}

int rad_machine_add(const rad_machine *m, rad_error *error)
{
    if (!name_is_good(m->name))
        return rad__error(error, RAD_EINPUT,
                          "machine \"%s\": a name is a-z, then a-z, 0-9, - or _, %d characters at most",
                          m->name ? m->name : "", MACHINES_NAME_MAX);
    if (find_added(m->name)) return rad__error(error, RAD_EINPUT, "there is a machine called %s already", m->name);
    if (!m->create || !m->destroy || !m->reset || !m->step || !m->idle)
        return rad__error(error, RAD_EINPUT, "machine %s: create, destroy, reset, step and idle are needed", m->name);
    if ((m->save == NULL) != (m->load == NULL))
        return rad__error(error, RAD_EINPUT, "machine %s: save and load go together", m->name);
    int status = params_check(m, error);
    if (status == 0) status = body_check(m, error);
    if (status != 0) return status;
    if (!RAD_GROW(&machines_added, &machines_added_capacity, machines_added_count + 1)) return rad__error_memory(error);
    machines_added[machines_added_count++] = m;
    return 0;
}

uint32_t rad__machines_added(void)
{
    return machines_added_count;
}

void rad__machines_cut(uint32_t count)
{
    RAD_ASSERT(count <= machines_added_count);
    machines_added_count = count;
    if (count == 0) rad__machines_forget();
}

void rad__machines_forget(void)
{
    rad__free(machines_added);
    machines_added = NULL;
    machines_added_count = machines_added_capacity = 0;
}

uint32_t rad__machine_param_count(const rad_machine *m)
{
    uint32_t count = 0;
    while (m->params && m->params[count].name && count < RAD_PARAMS_MAX) count++;
    return count;
}

uint32_t rad__machine_param(const rad_machine *m, const char *name, size_t length)
{
    for (uint32_t i = 0; i < rad__machine_param_count(m); i++) {
        const char *own = m->params[i].name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) return i;
    }
    return RAD_NONE;
}

/* ---- Targets -------------------------------------------------------------------------------------- */

void rad__target_default(rad_target *t, const rad_machine *m)
{
    *t = (rad_target){.machine = m};
    for (uint32_t i = 0; i < rad__machine_param_count(m); i++) t->c.params[i] = m->params[i].default_value;
    t->c.body = m->body;
}

int rad_target_init(rad_target *t, const char *machine, rad_error *error)
{
    const rad_machine *m = rad_machine_find(machine);
    *t = (rad_target){.machine = NULL};
    if (m == NULL) return rad__error(error, RAD_EINPUT, "unknown machine '%.60s'; 'raddle list' shows all", machine);
    rad__target_default(t, m);
    return 0;
}

static int range_error(const rad_target *t, uint32_t param, const char *word, int length, const char *what,
                       rad_error *error)
{
    const rad_param *p = &t->machine->params[param];
    return rad__error(error, RAD_EINPUT, "%.*s: %s; %s of %s is %lld ... %lld (%s)", length, word, what, p->name,
                      t->machine->name, (long long)p->min, (long long)p->max, p->about ? p->about : "");
}

static void target_append(char *text, size_t size, const char *format, ...) RAD_PRINTF(3, 4);
static void target_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static int unknown_error(const rad_target *t, const char *word, rad_error *error)
{
    char names[RAD_PARAMS_MAX * (MACHINES_NAME_MAX + 2) + 1] = "";
    uint32_t count = rad__machine_param_count(t->machine);
    for (uint32_t i = 0; i < count; i++)
        target_append(names, sizeof names, "%s%s", i ? ", " : "", t->machine->params[i].name);
    return rad__error(error, RAD_EINPUT, "unknown parameter '%.*s'; %s has: %s", (int)strcspn(word, "="), word,
                      t->machine->name, count ? names : "none");
}

enum number { NUMBER_GOOD, NUMBER_BAD, NUMBER_HUGE };

/* Decimal, with an optional minus, nothing else. */
static enum number number_parse(const char *text, size_t length, int64_t *value)
{
    bool minus = length > 0 && text[0] == '-';
    int64_t v = 0;
    size_t i = minus;
    if (i == length) return NUMBER_BAD;
    bool huge = false;
    for (; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return NUMBER_BAD;
        int digit = text[i] - '0';
        huge |= __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, minus ? -digit : digit, &v);
    }
    *value = v;
    return huge ? NUMBER_HUGE : NUMBER_GOOD;
}

static int target_set_one(rad_target *t, const char *word, size_t length, uint32_t *given, rad_error *error)
{
    int shown = length > 80 ? 80 : (int)length;
    const char *equals = memchr(word, '=', length);
    if (equals == NULL || equals == word)
        return rad__error(error, RAD_EINPUT, "%.*s: expected NAME=NUMBER", shown, word);
    size_t name = (size_t)(equals - word);
    uint32_t param = rad__machine_param(t->machine, word, name);
    if (param == RAD_NONE) return unknown_error(t, word, error);
    int64_t value = 0;
    enum number n = number_parse(equals + 1, length - name - 1, &value);
    if (n == NUMBER_BAD) return range_error(t, param, word, shown, "not a whole number", error);
    const rad_param *p = &t->machine->params[param];
    if (n == NUMBER_HUGE || value < p->min || value > p->max)
        return range_error(t, param, word, shown, "out of range", error);
    if (*given >> param & 1) return rad__error(error, RAD_EINPUT, "%.*s: %s is given twice", shown, word, p->name);
    *given |= UINT32_C(1) << param;
    t->c.params[param] = value;
    return 0;
}

/* One assignment, or several with spaces between. On failure the target is as before. */
int rad_target_set(rad_target *t, const char *assignment, rad_error *error)
{
    rad_target changed = *t;
    uint32_t given = 0;
    const char *at = assignment + strspn(assignment, " ");
    if (*at == 0) return rad__error(error, RAD_EINPUT, "\"\": expected NAME=NUMBER");
    while (*at) {
        size_t length = strcspn(at, " ");
        int status = target_set_one(&changed, at, length, &given, error);
        if (status != 0) return status;
        at += length;
        at += strspn(at, " ");
    }
    *t = changed;
    return 0;
}

int rad__target_check(const rad_target *t, rad_error *error)
{
    for (uint32_t i = 0; i < rad__machine_param_count(t->machine); i++) {
        const rad_param *p = &t->machine->params[i];
        int64_t value = t->c.params[i];
        if (value >= p->min && value <= p->max) continue;
        char word[MACHINES_NAME_MAX + 24];
        int length = snprintf(word, sizeof word, "%.40s=%lld", p->name, (long long)value);
        return range_error(t, i, word, length, "out of range", error);
    }
    return 0;
}

void rad_target_text(const rad_target *t, char *text, size_t size)
{
    if (size == 0) return;
    text[0] = 0;
    target_append(text, size, "%s", t->machine->name);
    for (uint32_t i = 0; i < rad__machine_param_count(t->machine); i++) {
        const rad_param *p = &t->machine->params[i];
        if (t->c.params[i] != p->default_value)
            target_append(text, size, " %s=%lld", p->name, (long long)t->c.params[i]);
    }
    if (t->c.repaired) target_append(text, size, " (fixed)");
    const char *body = t->c.body, *defaults = t->machine->body;
    if (body && strcmp(body, defaults ? defaults : "") != 0) {
        char digits[RAD_DIGEST_TEXT];
        rad__digest_text(rad__digest_of(body, strlen(body)), digits);
        target_append(text, size, " (body %.8s)", digits);
    }
}
