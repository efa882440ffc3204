/* results.c — the folder of a run, for programs. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/api/folder.h"

struct rad_load_folder {
    rad__load_folder f;
};

int rad_load_folder_open(rad_load_folder **out, const char *parent, rad_error *error)
{
    rad_load_folder *f = rad__alloc(1, sizeof *f);
    rad__error_clear(error);
    *out = NULL;
    if (f == NULL) return rad__error_memory(error);
    int result = rad__load_folder_open(&f->f, parent, error);
    if (result == 0)
        *out = f;
    else
        rad__free(f);
    return result;
}

const char *rad_load_folder_path(const rad_load_folder *f)
{
    return f->f.path;
}

const char *rad_load_folder_log(const rad_load_folder *f)
{
    return f->f.log;
}

int rad_load_folder_keep(const rad_load_folder *f, const rad_load_result *r, const char *scenario_path,
                         const char *command_line, int exit_code, rad_error *error)
{
    rad__error_clear(error);
    return rad__load_folder_write(&f->f, r, scenario_path, command_line, exit_code, error);
}

void rad_load_folder_free(rad_load_folder *f)
{
    rad__free(f);
}
