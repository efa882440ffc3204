/* program.c — see program.h. */
#include "lab/program.h"

#include "base/digest.h"
#include "lab/artifact.h"
#include "lab/json.h"
#include "lab/log_file.h"
#include "os/object.h"

#include <stdio.h>
#include <string.h>

static rad_lab_program program_own;
static const rad_machine *program_machine;         /* one of those that it has; NULL: no program */
static const char *program_file, *program_library; /* NULL: the file that holds the machine; none */

void rad__program_build_id(const rad_elf *e, char *text, size_t size)
{
    char digits[RAD_DIGEST_TEXT];
    if (e->build_id[0]) {
        snprintf(text, size, "%s", e->build_id);
        return;
    }
    rad__digest_text(rad__digest_of(e->bytes, e->size), digits);
    snprintf(text, size, "file:%s", digits);
}

/* ---- This program ------------------------------------------------------------------------------------ */

void rad__program_set(const char *path, const rad_machine *machine)
{
    program_own = (rad_lab_program){.path = ""};
    program_machine = machine;
    program_file = program_library = NULL;
    snprintf(program_own.path, sizeof program_own.path, "%s", path);
    rad__text_clean(program_own.path);
}

void rad__program_set_file(const char *path, const char *library, const rad_machine *machine)
{
    rad__program_set(path, machine);
    program_file = path;
    program_library = library;
}

static void read_build_id(const char *path, char *text, size_t size)
{
    rad_elf elf;
    if (rad__os_object_open(path, &elf, NULL) != 0) return;
    rad__program_build_id(&elf, text, size);
    if (rad__os_object_close(&elf, path, NULL) != 0) text[0] = 0;
}

const rad_lab_program *rad_lab_program_own(void)
{
    rad_lab_program *p = &program_own;
    char path[4096];
    if (program_machine == NULL) return NULL;
    if (p->build_id[0] == 0) {
        if (program_file == NULL) rad__os_object_of(program_machine, path, sizeof path);
        read_build_id(program_file ? program_file : path, p->build_id, sizeof p->build_id);
        if (program_library) read_build_id(program_library, p->library, sizeof p->library);
    }
    return p;
}

void rad__program_of_machine(const rad_machine *m, rad_lab_program *out)
{
    const rad_lab_program *own = rad_machine_is_added(m) ? rad_lab_program_own() : NULL;
    *out = own ? *own : (rad_lab_program){.path = ""};
}

/* ---- What a file says -------------------------------------------------------------------------------- */

bool rad_lab_program_of(const char *file, rad_lab_program *out)
{
    (rad_is_log(file) ? rad__log_program : rad__artifact_program)(file, out);
    return out->path[0] != 0;
}
