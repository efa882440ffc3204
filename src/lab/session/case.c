/* case.c — cases of the session machine: a protocol file as a list of lines, and which of its protocols is meant. */
#include "lab/session/trial.h"
#include "lab/source.h"

#include <string.h>

int rad__session_case_protocol(const rad_case *c, char *name, size_t size, rad_error *error)
{
    const rad_json_source place = {NULL, error}, whole = {"body", error};
    json_t *body = rad__json_load(&whole, c->body, strlen(c->body));
    if (body == NULL) return error->code;
    name[0] = 0;
    int status = 0;
    if (json_object_get(body, "protocol"))
        status = rad__json_text(&place, body, "", "protocol", name, size);
    json_decref(body);
    return status;
}

char *rad__session_case_source(const rad_case *c, rad_error *error)
{
    static const char *const keys[] = {"source", "protocol", NULL};
    return rad__source_text(c, keys, error);
}

uint64_t rad__session_case_size(const rad_case *c)
{
    return rad__source_size(&rad__machine_session, c);
}

static int check(const char *path, const char *text, size_t size, rad_error *error)
{
    rad_protocols *p = NULL;
    int status = rad_protocols_parse(&p, path, text, size, error);
    rad_protocols_free(p);
    return status;
}

int rad_target_protocol(rad_target *t, const char *path, const char *protocol, rad_error *error)
{
    return rad__source_target(t, "session", path, check, "protocol", protocol, error);
}
