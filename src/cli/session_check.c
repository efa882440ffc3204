/* session_check.c — `raddle session check`: is a protocol file well-formed, and how large must buffers be. */
#include "command/report.h"
#include "session.h"

typedef struct check_args {
    uint64_t most, states;
    bool json;
} check_args;

#define AT(field) offsetof(check_args, field)

static const option CHECK_OPTIONS[] = {
    {"most", OPTION_COUNT, AT(most), "K", "try buffers of 1 ... K messages (default: 16)", 1, 64, 0},
    {"states", OPTION_COUNT, AT(states), "N", "give up after N states (default: 200,000)", 1, 10000000, 0},
    OPTION_JSON(check_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static const char *answer_name(enum rad_capacity_answer answer)
{
    static const char *const names[] = {"sufficient", "stuck", "unknown", "wrong"};
    return names[answer];
}

static void capacity_text(cli *c, bool locals, const rad_capacity *k)
{
    bool good = k->answer == RAD_CAPACITY_SUFFICIENT;
    report_label(c, "buffers");
    if (k->answer == RAD_CAPACITY_UNKNOWN && !locals) {
        out(c, "of 1 message suffice, as for everything projected (not tried to the end: %s states)\n",
            number(k->states));
        return;
    }
    if (k->answer == RAD_CAPACITY_UNKNOWN) {
        out(c, "%sunknown%s: more than %s states with %u message%s; --states tries more\n", style(c, STYLE_MARK),
            style(c, STYLE_OFF), number(k->states), k->capacity, plural(k->capacity));
        return;
    }
    out(c, "%s", style(c, good ? STYLE_GOOD : STYLE_BAD));
    if (good) {
        out(c, "of %u message%s suffice%s (%s states, all orders and choices)\n", k->capacity, plural(k->capacity),
            style(c, STYLE_OFF), number(k->states));
    } else if (k->answer == RAD_CAPACITY_STUCK) {
        out(c, "stuck%s even with %u messages\n", style(c, STYLE_OFF), k->capacity);
    } else {
        out(c, "the parts do not fit together%s\n", style(c, STYLE_OFF));
    }
    if (*k->stuck) {
        report_label(c, good ? "with fewer" : "because");
        out(c, "%s\n", k->stuck);
    }
}

static void protocol_text(cli *c, const rad_protocols *p, uint32_t i, const rad_capacity *k)
{
    rad_protocol_counts n;
    rad_protocol_count(p, i, &n);
    out(c, "%s%s%s: %s role%s, %s coroutine%s, %s edge%s, %s state%s, %s instruction%s%s\n", style(c, STYLE_BOLD),
        rad_protocol_name(p, i), style(c, STYLE_OFF), number(n.roles), plural(n.roles), number(n.threads),
        plural(n.threads), number(n.edges), plural(n.edges), number(n.states), plural(n.states), number(n.instructions),
        plural(n.instructions), rad_protocol_is_locals(p, i) ? ", written role by role" : "");
    capacity_text(c, rad_protocol_is_locals(p, i), k);
}

static void protocol_json(writer *j, const rad_protocols *p, uint32_t i, const rad_capacity *k)
{
    rad_protocol_counts n;
    rad_protocol_count(p, i, &n);
    put_object(j, NULL);
    put_text(j, "name", rad_protocol_name(p, i));
    put_bool(j, "locals", rad_protocol_is_locals(p, i));
    put_array(j, "roles");
    for (uint32_t r = 0; r < n.roles; r++) put_text(j, NULL, rad_protocol_role(p, i, r));
    put_close(j, ']');
    put_count(j, "threads", n.threads);
    put_count(j, "edges", n.edges);
    put_count(j, "states", n.states);
    put_count(j, "instructions", n.instructions);
    put_object(j, "capacity");
    put_text(j, "answer", answer_name(k->answer));
    put_count(j, "capacity", k->capacity);
    put_count(j, "states", k->states);
    put_text(j, "stuck", *k->stuck ? k->stuck : NULL);
    put_close(j, '}');
    put_close(j, '}');
}

static int check_all(cli *c, const rad_protocols *p, const char *path, const check_args *a)
{
    rad_error error = {.code = 0};
    bool good = true;
    writer j;
    if (a->json) {
        put_begin(&j, c);
        put_text(&j, "verb", "session check");
        put_text(&j, "file", path);
        put_array(&j, "protocols");
    }
    for (uint32_t i = 0; i < rad_protocols_count(p); i++) {
        rad_capacity k;
        if (rad_protocol_capacity(p, i, (uint32_t)a->most, a->states, &k, &error) != 0)
            return complain_error(c, &error);
        good = good && k.answer != RAD_CAPACITY_STUCK && k.answer != RAD_CAPACITY_WRONG;
        if (a->json)
            protocol_json(&j, p, i, &k);
        else
            protocol_text(c, p, i, &k);
    }
    if (a->json) {
        put_close(&j, ']');
        put_bool(&j, "good", good);
        put_end(&j);
    } else if (good) {
        out(c, "%swell-formed%s: every role knows at every point what it may do\n", style(c, STYLE_GOOD),
            style(c, STYLE_OFF));
    }
    return good ? EXIT_FINE : EXIT_FOUND;
}

static int check_run(cli *c, int argc, char **argv)
{
    check_args a = {.most = 0};
    rad_protocols *p;
    words w;
    int status = options_parse(c, &VERB_SESSION_CHECK, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_SESSION_CHECK);
    if ((status = read_protocols(c, &w, &p)) != 0) return status;
    status = check_all(c, p, w.at[0], &a);
    rad_protocols_free(p);
    return status;
}

static const char *const CHECK_EXAMPLES[] = {
    "raddle session check examples/session/two_buyer.session",
    "all protocols of a file",
    NULL,
};

const verb VERB_SESSION_CHECK = {
    .name = "session check",
    .about = "check a protocol file: well-formed, local types, buffer sizes",
    .usage = "FILE.session [options]",
    .text = "Read FILE, project every protocol to its roles, and try everything the roles can do "
            "with buffers of 1, 2, ... K messages.\n\n"
            "A protocol is refused if some role cannot know what to do; the message names the line "
            "and the two branches it cannot tell apart.",
    .status = "0 well-formed, 1 gets stuck, or the local types do not fit together, 2 refused, or "
              "bad arguments, 3 I/O, memory or limit, 4 bug in Raddle",
    .options = CHECK_OPTIONS,
    .examples = CHECK_EXAMPLES,
    .run = check_run,
};
