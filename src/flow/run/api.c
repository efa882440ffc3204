/* api.c — flows, functions, run and resume, signals: the public calls over production's host. */
#include "flow/run/api.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/readable.h"
#include "flow/run/parts.h"
#include "os/command.h"
#include "os/file.h"
#include "os/host_info.h"

#include <stdio.h>
#include <string.h>

/* ---- Flows ---------------------------------------------------------------------------------------------- */

int rad_flow_parse(rad_flow **out, const char *path, const char *text, size_t size, const char *name, rad_error *error)
{
    rad__error_clear(error);
    *out = NULL;
    rad_flow *f = rad__alloc(1, sizeof *f);
    if (f == NULL) return rad__error_memory(error);
    int code = rad__flow_program_read(&f->program, path, text, size, name, error);
    if (code != 0) {
        rad_flow_free(f);
        return code;
    }
    *out = f;
    return 0;
}

int rad_flow_read(rad_flow **out, const char *path, const char *name, rad_error *error)
{
    char *text;
    size_t size;
    rad__error_clear(error);
    *out = NULL;
    int code = rad__os_read_file(path, RAD_FLOW_TEXT_MAX, &text, &size, error);
    if (code != 0) return code;
    code = rad_flow_parse(out, path, text, size, name, error);
    rad__free(text);
    return code;
}

void rad_flow_free(rad_flow *f)
{
    if (f == NULL) return;
    for (uint32_t i = 0; i < f->function_count; i++)
        rad__free((char *)(uintptr_t)f->functions[i].name); /* tidy: address ok: a copy of ours */
    rad__free(f->functions);
    rad__flow_program_free(f->program);
    rad__free(f);
}

const char *rad_flow_name(const rad_flow *f)
{
    return rad__flow_name(&f->program->file, f->program->tree->name);
}

int rad_flow_register(rad_flow *f, const char *name, rad_flow_function *function, void *context, rad_error *error)
{
    rad__error_clear(error);
    for (uint32_t i = 0; i < f->function_count; i++)
        if (strcmp(f->functions[i].name, name) == 0)
            return rad__error(error, RAD_EINPUT, "a function %s is registered already", name);
    char *copy = rad__copy_text(name);
    if (copy == NULL || !RAD_GROW(&f->functions, &f->function_capacity, f->function_count + 1)) {
        rad__free(copy);
        return rad__error_memory(error);
    }
    f->functions[f->function_count++] = (rad_flow_named_function){copy, function, context};
    return 0;
}

/* ---- Running -------------------------------------------------------------------------------------------- */

rad_flow_options rad_flow_defaults(void)
{
    return (rad_flow_options){0};
}

/* A message shows names so that people can read them. */
static bool begins(const char *message, const char *with)
{
    char shown[sizeof((rad_error *)0)->text];
    return strncmp(message, shown, rad__readable_text(shown, sizeof shown, "%s", with)) == 0;
}

void rad__flow_say_where(rad_error *error, const char *folder)
{
    char text[sizeof error->text];
    if (error == NULL || error->code == 0 || begins(error->text, folder)) return;
    bool is_file = begins(error->text, "journal") || begins(error->text, "effects/") ||
                   begins(error->text, "signals/") || begins(error->text, "flow:");
    const char *between = is_file ? "/" : ": ";
    size_t length = strlen(error->text), gap = strlen(between), most = sizeof text - 1;
    if (length + gap > most) return; /* there is no room for where */
    size_t before = rad__readable_text(text, most - gap - length + 1, "%s", folder);
    memcpy(text + before, between, gap);
    memcpy(text + before + gap, error->text, length + 1);
    memcpy(error->text, text, before + gap + length + 1);
}

static rad_flow_run_options full_options(const rad_flow *f, const rad_flow_options *o)
{
    rad_flow_run_options full = {.given = o != NULL ? *o : rad_flow_defaults(), .environment = rad__os_environment()};
    if (f != NULL) {
        full.functions = f->functions;
        full.function_count = f->function_count;
    }
    if (full.given.jobs == 0) {
        rad_os_host_info machine;
        rad__os_host_info(&machine);
        full.given.jobs = machine.cores > 0 ? machine.cores : 1;
    }
    return full;
}

/* The flow as it is in the folder of a case. */
static int read_copy(rad_flow_program **p, const rad_flow_host *host, const char *flow, rad_error *error)
{
    char *text;
    size_t size;
    *p = NULL;
    int got = host->read(host->context, "flow", &text, &size, error);
    if (got == 0) /* the journal was there */
        return rad__error(error, RAD_EINPUT,
                          "the file \"flow\", with the text that the execution was begun with, is gone: "
                          "'raddle flow resume DIR FILE.flow' takes it from elsewhere");
    if (got < 0) return got;
    int code = rad__flow_program_read(p, "flow", text, size, flow, error);
    rad__free(text);
    return code;
}

int rad__flow_kept_read(rad_flow_kept *k, const rad_flow_host *host, rad_error *error)
{
    *k = (rad_flow_kept){.bytes = NULL};
    int got = host->read(host->context, "journal", &k->bytes, &k->size, error);
    if (got < 0) return got;
    if (got == 0) return rad__error(error, RAD_EINPUT, "holds no execution (no journal)");
    int code = rad__flow_journal_open(&k->journal, "journal", k->bytes, k->size, error);
    return code != 0 ? code : read_copy(&k->program, host, k->journal.header.flow, error);
}

void rad__flow_kept_free(rad_flow_kept *k)
{
    rad__flow_program_free(k->program);
    rad__free(k->bytes);
}

static int resume_copy(const rad_flow_host *host, const rad_flow_run_options *o, rad_flow_result *result,
                       rad_error *error)
{
    rad_flow_kept *k = rad__alloc(1, sizeof *k);
    if (k == NULL) return rad__error_memory(error);
    int code = rad__flow_kept_read(k, host, error);
    if (code == 0) code = rad__flow_resume(host, k->program, o, result, error);
    rad__flow_kept_free(k);
    rad__free(k);
    return code;
}

/* `f` NULL: as it was when the case began. */
static int resume(const rad_flow_host *host, const rad_flow *f, const rad_flow_run_options *o, rad_flow_result *result,
                  rad_error *error)
{
    return f != NULL ? rad__flow_resume(host, f->program, o, result, error) : resume_copy(host, o, result, error);
}

static int begin(const rad_flow_host *host, const rad_flow *f, const rad_flow_run_options *o, rad_flow_result *result,
                 rad_error *error)
{
    return rad__flow_run(host, f->program, o, result, error);
}

typedef int drive_call(const rad_flow_host *host, const rad_flow *f, const rad_flow_run_options *o,
                       rad_flow_result *result, rad_error *error);

static int drive(drive_call *call, const rad_flow *f, const char *folder, const rad_flow_options *o,
                 rad_flow_result *result, rad_error *error)
{
    rad_flow_host host;
    rad_error own = {0};
    rad__error_clear(error);
    if (error == NULL) error = &own;
    *result = (rad_flow_result){0};
    rad_flow_run_options full = full_options(f, o);
    int code = rad__flow_host_open(&host, folder, full.given.unsynced, error);
    if (code != 0) return code;
    code = call(&host, f, &full, result, error);
    rad__flow_host_close(&host);
    if (code != 0 && (f == NULL || !begins(error->text, f->program->file.file_name)))
        rad__flow_say_where(error, folder);
    return code;
}

int rad_flow_run(rad_flow *f, const char *folder, const rad_flow_options *o, rad_flow_result *result, rad_error *error)
{
    return drive(begin, f, folder, o, result, error);
}

int rad_flow_resume(rad_flow *f, const char *folder, const rad_flow_options *o, rad_flow_result *result,
                    rad_error *error)
{
    return drive(resume, f, folder, o, result, error);
}

int rad_flow_changes(const rad_flow *f, const char *folder, char **text, rad_error *error)
{
    rad_flow_host host;
    char *old = NULL;
    size_t size;
    rad__error_clear(error);
    *text = NULL;
    int code = rad__flow_host_open(&host, folder, false, error);
    if (code != 0) return code;
    int got = host.read(host.context, "flow", &old, &size, error);
    if (got == 1) *text = rad__flow_difference(old, size, f->program->text, f->program->text_size);
    if (got == 1 && *text == NULL) code = rad__error_memory(error);
    if (got == 0) code = rad__error(error, RAD_EINPUT, "holds no execution (no journal)");
    if (got < 0) code = got;
    rad__free(old);
    rad__flow_host_close(&host);
    rad__flow_say_where(error, folder);
    return code;
}
