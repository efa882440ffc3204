/* policies.c — the policies of this process: those of raddle, those that a program adds, those in shared objects.
 *
 * A shared object is read before it is loaded, as one with machines is (cli/program.c): a file that does not export
 * `rad_policies` never runs a line of its code here. A path comes from the command line or from a program, never from
 * an artifact, a log or a journal: those have the name of a policy only. The object stays loaded: its policies are in
 * use until the process ends, and workers are forked from it. */
#include "base/alloc.h"
#include "base/error.h"
#include "core/policy_user.h"
#include "os/file.h"
#include "os/object.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

bool rad_policy_at(uint32_t index, rad_named *out)
{
    uint32_t own = 0;
    const rad_policy_class *class = rad__policy_class_at(index);
    if (class != NULL) {
        *out = (rad_named){class->name, class->about};
        return true;
    }
    while (rad__policy_class_at(own) != NULL) own++;
    const rad_policy_table *t = rad__user_policy_at(index - own);
    if (t == NULL) return false;
    *out = (rad_named){t->name, t->about ? t->about : ""};
    return true;
}

/* ---- Adding ------------------------------------------------------------------------------------------ */

/* Names are typed in a shell, before a colon, and go into files. */
static bool name_is_good(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (length == 0 || length > RAD_POLICY_NAME_MAX || name[0] < 'a' || name[0] > 'z') return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

static bool has_name(const char *entry, const char *name)
{
    size_t length = strcspn(entry, ":");
    return strlen(name) == length && memcmp(entry, name, length) == 0;
}

/* In files and in `explore` policies and strategies are named by one word; "baseline" is a policy inside `auto`. */
static bool name_is_taken(const char *name)
{
    rad_named n;
    for (uint32_t i = 0; rad_policy_at(i, &n); i++)
        if (has_name(n.name, name)) return true;
    for (uint32_t i = 0; rad_strategy_at(i, &n); i++)
        if (has_name(n.name, name)) return true;
    return strcmp(name, "baseline") == 0;
}

/* `from` is a path and a colon, or "". Nothing behind `abi` is looked at before that is known. */
static int check_table(const char *from, const rad_policy_table *t, rad_error *error)
{
    if (t->abi == 0 || t->abi > RAD_POLICY_ABI)
        return rad__error(error, RAD_EINPUT,
                          "%sa policy for version %u of <raddle/policy.h>; this raddle has version %u", from,
                          (unsigned)t->abi, (unsigned)RAD_POLICY_ABI);
    if (!name_is_good(t->name))
        return rad__error(error, RAD_EINPUT,
                          "%spolicy \"%.40s\": a name is a-z, then a-z, 0-9, - or _, %d characters at most", from,
                          t->name ? t->name : "", (int)RAD_POLICY_NAME_MAX);
    if (t->choose == NULL) return rad__error(error, RAD_EINPUT, "%spolicy '%s': choose is NULL", from, t->name);
    if (t->destroy != NULL && t->create == NULL)
        return rad__error(error, RAD_EINPUT, "%spolicy '%s': destroy without create", from, t->name);
    if (name_is_taken(t->name))
        return rad__error(error, RAD_EINPUT, "%spolicy '%s': there is a policy or strategy of that name already", from,
                          t->name);
    return 0;
}

static bool is_added(const rad_policy_table *table)
{
    for (uint32_t i = 0; rad__user_policy_at(i) != NULL; i++)
        if (rad__user_policy_at(i) == table) return true;
    return false;
}

int rad_policy_add(const rad_policy_table *table, rad_error *error)
{
    rad__error_clear(error);
    int code = check_table("", table, error);
    return code ? code : rad__user_policy_add(table, error);
}

/* ---- Shared objects ---------------------------------------------------------------------------------- */

/* What is before the first colon behind the last slash; *rest is what follows, or NULL. */
static int split_path(const char *text, char *path, size_t size, const char **rest, rad_error *error)
{
    const char *slash = strrchr(text, '/');
    if (slash == NULL)
        return rad__error(error, RAD_EINPUT, "'%.200s': a shared object is a path with a slash, such as ./%.200s", text,
                          text);
    const char *colon = strchr(slash, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    if (length >= size) return rad__error(error, RAD_EINPUT, "'%.200s…': the path is too long", text);
    memcpy(path, text, length);
    path[length] = 0;
    *rest = colon ? colon + 1 : NULL;
    return 0;
}

/* Is it a shared object with policies? Nothing of it has run yet. */
static int check_file(const char *path, rad_error *error)
{
    rad_elf elf;
    const char *kind = rad__os_not_regular(path);
    if (kind != NULL) return rad__error(error, RAD_EINPUT, "'%.300s': %s, not a shared object", path, kind);
    int code = rad__os_object_open(path, &elf, error);
    if (code != 0) return code;
    if (elf.is_program)
        code = rad__error(error, RAD_EINPUT, "'%.300s': a program, not a shared object (compile with -shared -fPIC)",
                          path);
    else if (rad__elf_exported(&elf, "rad_policies") != RAD_ELF_DEFINED)
        code = rad__error(error, RAD_EINPUT,
                          "'%.300s': a shared object without policies: it does not export "
                          "rad_policies (docs/policy.md)",
                          path);
    int whole = rad__os_object_close(&elf, path, error);
    return whole != 0 ? whole : code;
}

static int add_all(const char *from, const rad_policy_table *const *tables, rad_error *error)
{
    if (tables[0] == NULL) return rad__error(error, RAD_EINPUT, "%srad_policies is empty", from);
    for (uint32_t i = 0; tables[i] != NULL; i++) {
        if (is_added(tables[i])) continue; /* the object was loaded before */
        int code = check_table(from, tables[i], error);
        if (code == 0) code = rad__user_policy_add(tables[i], error);
        if (code != 0) return code;
    }
    return 0;
}

/* "NAME" or "NAME:ARGUMENT"; without a name it is the only policy. */
static int pick_name(const char *from, const rad_policy_table *const *tables, const char *rest,
                     char name[RAD_POLICY_TEXT_MAX], rad_error *error)
{
    char names[300] = "";
    size_t used = 0;
    for (uint32_t i = 0; tables[i] != NULL; i++) {
        const char *own = tables[i]->name;
        if (rest != NULL && has_name(rest, own)) {
            int length = snprintf(name, RAD_POLICY_TEXT_MAX, "%s", rest);
            if (length < RAD_POLICY_TEXT_MAX) return 0;
            return rad__error(error, RAD_EINPUT, "'%.60s…': longer than %d characters", rest, RAD_POLICY_TEXT_MAX - 1);
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", own);
    }
    if (rest == NULL && tables[1] == NULL) {
        snprintf(name, RAD_POLICY_TEXT_MAX, "%s", tables[0]->name);
        return 0;
    }
    if (rest == NULL)
        return rad__error(error, RAD_EINPUT, "%sseveral policies; write FILE:NAME, NAME is %s", from, names);
    return rad__error(error, RAD_EINPUT, "%sunknown policy '%.*s'; it has %s", from, (int)strcspn(rest, ":"), rest,
                      names);
}

int rad_policy_load(const char *text, char name[RAD_POLICY_TEXT_MAX], rad_error *error)
{
    char path[4096], from[400];
    const char *rest = NULL;
    void *symbol = NULL;
    name[0] = 0;
    rad__error_clear(error);
    int code = split_path(text, path, sizeof path, &rest, error);
    if (code == 0) code = check_file(path, error);
    if (code == 0) code = rad__os_object_load(path, "rad_policies", &symbol, error);
    if (code != 0) return code;
    const rad_policy_table *const *tables = symbol;
    snprintf(from, sizeof from, "'%.300s': ", path);
    code = add_all(from, tables, error);
    return code ? code : pick_name(from, tables, rest, name, error);
}
