/* write_stub.c — `write_stub FILE ROLE`: the C header of a role of the last protocol in the file, to standard output.
 * For the build, which cannot wait for the whole command. */
#include <raddle/lab.h>
#include <raddle/session.h>

#include <stdio.h>
#include <string.h>

static uint32_t role_find(const rad_protocols *p, uint32_t protocol, const char *name)
{
    for (uint32_t i = 0; i < rad_protocol_role_count(p, protocol); i++)
        if (strcmp(rad_protocol_role(p, protocol, i), name) == 0) return i;
    return RAD_NONE;
}

int main(int count, char **args)
{
    rad_error error = {0};
    rad_protocols *p = NULL;
    char *text = NULL;
    if (count != 3) {
        fprintf(stderr, "usage: write_stub FILE ROLE\n");
        return 2;
    }
    if (rad_protocols_read(&p, args[1], &error) == 0) {
        uint32_t protocol = rad_protocol_find(p, NULL), role = role_find(p, protocol, args[2]);
        if (role != RAD_NONE)
            text = rad_protocol_c_text(p, protocol, role, &error);
        else
            snprintf(error.text, sizeof error.text, "%s: there is no role %s", args[1], args[2]);
    }
    if (text != NULL)
        fputs(text, stdout);
    else
        fprintf(stderr, "write_stub: %s\n", error.text);
    bool done = text != NULL && fflush(stdout) == 0;
    rad_free(text);
    rad_protocols_free(p);
    return done ? 0 : 2;
}
