/* read.c — a scenario from TOML: the sections one after the other, those first that others depend on. */
#include "load/scenario/read.h"

#include "base/error.h"

#include <string.h>

/* The name of the file without folder and ending, for scenarios that do not say theirs. */
static const char *name_of_file(rad__load_reading *r)
{
    const char *path = r->doc.file_name, *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t size = dot != NULL && dot > name ? (size_t)(dot - name) : strlen(name);
    const char *kept = rad__arena_text(&r->s->arena, name, size);
    if (kept == NULL) rad__error_memory(&r->error);
    return kept;
}

static void read_metadata(rad__load_reading *r, const rad__load_part *top)
{
    enum { LINE = 200, PAGE = 4000 };
    rad__load_scenario *s = r->s;
    rad__load_part p = rad__load_part_get(top, "metadata", "metadata");
    rad_toml_node *tags = rad__load_find(&p, "tags");
    s->name = rad__load_get_text(&p, "name", 1, LINE, NULL);
    s->description = rad__load_get_text(&p, "description", 0, PAGE, NULL);
    s->version = rad__load_get_text(&p, "version", 0, LINE, NULL);
    s->author = rad__load_get_text(&p, "author", 0, LINE, NULL);
    if (tags != NULL && tags->type != RAD_TOML_ARRAY) rad__load_expected(r, tags, "an array of strings");
    for (rad_toml_node *n = rad__toml_first(tags); n != NULL; n = rad__toml_next(n))
        rad__load_as_text(r, n, 0, LINE, NULL);
    if (s->name == NULL) s->name = name_of_file(r);
}

static void read_all(rad__load_reading *r)
{
    rad__load_part top = rad__load_part_of(r, r->doc.root, "");
    read_metadata(r, &top);
    r->s->cookies = rad__load_get_bool(&top, "cookies", false);
    rad__load_read_limits(r, &top);
    rad__load_read_when(r, &top);
    rad__load_read_simulated(r, &top);
    rad__load_read_targets(r, &top);
    rad__load_read_data(r, &top);
    rad__load_read_requests(r, &top);
    rad__load_read_steps(r, &top);
    rad__load_read_assertions(r, &top);
}

int rad__load_scenario_parse(rad__load_scenario *s, const char *path, const char *text, size_t size,
                             const struct rad__load_files *files, rad_error *error)
{
    rad__load_reading r = {.s = s, .files = files};
    *s = (rad__load_scenario){0};
    if (rad__toml_parse(&r.doc, path, text, size, RAD__LOAD_FILE_BYTES_MAX, &r.error) == 0) {
        read_all(&r);
        rad__toml_free(&r.doc);
    }
    if (s->arena.failed) rad__error_memory(&r.error);
    if (r.error.code == 0) return 0;
    rad__load_scenario_free(s);
    return rad__error(error, r.error.code, "%s", r.error.text);
}

void rad__load_scenario_free(rad__load_scenario *s)
{
    rad__arena_free(&s->arena);
    *s = (rad__load_scenario){0};
}
