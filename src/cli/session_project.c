/* session_project.c — `raddle session project` and `draw`: the parts of roles, and the whole as a picture. */
#include "session.h"

#include <string.h>

typedef struct project_args {
    const char *protocol, *role;
    bool as_c;
} project_args;

#define AT(field) offsetof(project_args, field)

static const option PROJECT_OPTIONS[] = {
    OPTION_PROTOCOL(project_args, protocol),
    {"role", OPTION_TEXT, AT(role), "R", "print only role R", 0, 0, 0},
    {"c", OPTION_FLAG, AT(as_c), NULL, "print typed C functions over channels, with the monitor", 0, 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static int find_role(cli *c, const rad_protocols *p, uint32_t protocol, const char *name, uint32_t *role)
{
    rad_suggest n;
    rad__suggest_begin(&n, name, strlen(name));
    uint32_t count = rad_protocol_role_count(p, protocol);
    for (*role = 0; *role < count; ++*role) {
        if (strcmp(rad_protocol_role(p, protocol, *role), name) == 0) return 0;
        rad__suggest_consider(&n, rad_protocol_role(p, protocol, *role));
    }
    return bad_usage(c, "--role: %s has no role '%.80s'%s", rad_protocol_name(p, protocol), name,
                     rad__suggest_or_all(&n));
}

static int print_text(cli *c, char *text)
{
    if (text == NULL) return complain_error(c, &(rad_error){.code = RAD_ENOMEM, .text = "out of memory"});
    out_text(c, text);
    rad_free(text);
    return EXIT_FINE;
}

static int print_c(cli *c, const rad_protocols *p, uint32_t protocol, uint32_t role)
{
    rad_error error = {.code = 0};
    char *text = rad_protocol_c_text(p, protocol, role, &error);
    return text || error.code == RAD_ENOMEM ? print_text(c, text) : complain_error(c, &error);
}

static int project(cli *c, const rad_protocols *p, const project_args *a)
{
    uint32_t protocol, role = 0, count = 1;
    int status = read_protocol(c, p, a->protocol, &protocol);
    if (status == 0 && a->role)
        status = find_role(c, p, protocol, a->role, &role);
    else if (status == 0)
        count = rad_protocol_role_count(p, protocol);
    for (uint32_t i = 0; i < count && status == 0; i++) {
        out_text(c, i ? "\n" : "");
        status =
            a->as_c ? print_c(c, p, protocol, role + i) : print_text(c, rad_protocol_type_text(p, protocol, role + i));
    }
    return status;
}

static int project_run(cli *c, int argc, char **argv)
{
    project_args a = {.role = NULL};
    rad_protocols *p;
    words w;
    int status = options_parse(c, &VERB_SESSION_PROJECT, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_SESSION_PROJECT);
    if (a.as_c && a.role == NULL) return bad_usage(c, "--c needs --role R: one header a role");
    if ((status = read_protocols(c, &w, &p)) != 0) return status;
    status = project(c, p, &a);
    rad_protocols_free(p);
    return status;
}

static const char *const PROJECT_EXAMPLES[] = {
    "raddle session project examples/session/two_buyer.session --role Seller",
    "what Seller does",
    "raddle session project examples/session/two_buyer.session --role Seller --c > seller.h",
    "a header for a program with fibers, such as examples/session_shop.c",
    NULL,
};

const verb VERB_SESSION_PROJECT = {
    .name = "session project",
    .about = "print a role's local type, as text or C",
    .usage = "FILE.session [options]",
    .text = "Print what each role, or one, sends and receives; with --c as a C header: one "
            "function a message, over channels, which refuses what the protocol does not allow.",
    .status = "0 done, " STATUS_ERRORS,
    .options = PROJECT_OPTIONS,
    .examples = PROJECT_EXAMPLES,
    .run = project_run,
};

/* ---- draw -------------------------------------------------------------------------------------------------- */

typedef struct draw_args {
    const char *protocol;
} draw_args;

static const option DRAW_OPTIONS[] = {
    OPTION_PROTOCOL(draw_args, protocol),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static int draw_run(cli *c, int argc, char **argv)
{
    draw_args a = {.protocol = NULL};
    rad_protocols *p;
    uint32_t protocol;
    words w;
    int status = options_parse(c, &VERB_SESSION_DRAW, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_SESSION_DRAW);
    if ((status = read_protocols(c, &w, &p)) != 0) return status;
    status = read_protocol(c, p, a.protocol, &protocol);
    status = status ? status : print_text(c, rad_protocol_svg(p, protocol));
    rad_protocols_free(p);
    return status;
}

static const char *const DRAW_EXAMPLES[] = {
    "raddle session draw examples/session/two_buyer.session > two_buyer.svg",
    "a diagram for a browser",
    NULL,
};

const verb VERB_SESSION_DRAW = {
    .name = "session draw",
    .about = "print a sequence diagram (SVG)",
    .usage = "FILE.session [options]",
    .text = "Print a sequence diagram as SVG: roles side by side, messages from top to bottom, "
            "frames around choices, loops and parallel parts.",
    .status = "0 done, " STATUS_ERRORS,
    .options = DRAW_OPTIONS,
    .examples = DRAW_EXAMPLES,
    .run = draw_run,
};
