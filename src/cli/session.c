/* session.c — `raddle session`: protocols between roles, and what its parts share. */
#include "session.h"

#include <stdio.h>
#include <string.h>

static const verb *const PARTS[] = {&VERB_SESSION_CHECK,   &VERB_SESSION_RUN,   &VERB_SESSION_INVARIANT,
                                    &VERB_SESSION_PROJECT, &VERB_SESSION_TRACE, &VERB_SESSION_DRAW};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

static int session_run(cli *c, int argc, char **argv)
{
    return run_part(c, &VERB_SESSION, argc, argv);
}

/* ---- Shared: the file --------------------------------------------------------------------------------- */

int read_protocols(cli *c, const words *w, rad_protocols **p)
{
    const char *path;
    rad_error error = {.code = 0};
    int status = read_file_word(c, w->at, w->count, &path);
    if (status != 0) return status;
    return rad_protocols_read(p, path, &error) == 0 ? 0 : complain_error(c, &error);
}

int read_protocol(cli *c, const rad_protocols *p, const char *name, uint32_t *protocol)
{
    rad_suggest n;
    *protocol = rad_protocol_find(p, name);
    if (*protocol != RAD_NONE) return 0;
    rad__suggest_begin(&n, name, strlen(name));
    for (uint32_t i = 0; i < rad_protocols_count(p); i++) rad__suggest_consider(&n, rad_protocol_name(p, i));
    return bad_usage(c, "--protocol: unknown protocol '%.80s'%s", name, rad__suggest_or_all(&n));
}

/* ---- Shared: how it is run ---------------------------------------------------------------------------- */

static const char *const POLICY_NAMES[] = {"cooperative", "round-robin", "progress", NULL};
static const char *const FULL_NAMES[] = {"block", "error", "drop", "latest", "resize", NULL};

static int read_name(cli *c, const char *what, const char *text, const char *const *names, uint32_t *index)
{
    for (uint32_t i = 0; names[i]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *index = i;
            return 0;
        }
    }
    char list[100] = "";
    for (uint32_t i = 0; names[i]; i++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 i == 0         ? ""
                 : names[i + 1] ? ", "
                                : " or ",
                 names[i]);
    }
    return bad_usage(c, "--%s '%.80s': use %s", what, text, list);
}

const char *policy_name(enum rad_session_policy policy)
{
    return POLICY_NAMES[policy];
}

int read_policy_of(const char *text, enum rad_session_policy *policy)
{
    for (uint32_t i = 0; POLICY_NAMES[i]; i++) {
        *policy = (enum rad_session_policy)i;
        if (strcmp(text, POLICY_NAMES[i]) == 0) return 0;
    }
    return -1;
}

int read_policy(cli *c, const char *text, enum rad_session_policy *policy)
{
    uint32_t index = 0;
    int status = read_name(c, "policy", text, POLICY_NAMES, &index);
    *policy = (enum rad_session_policy)index;
    return status;
}

int read_full(cli *c, const char *text, enum rad_session_full *full)
{
    uint32_t index = 0;
    int status = read_name(c, "full", text, FULL_NAMES, &index);
    *full = (enum rad_session_full)index;
    return status;
}

int read_n(cli *c, const char *text, uint32_t *n)
{
    uint64_t value;
    if (strcmp(text, "inf") == 0 || strcmp(text, "all") == 0) {
        *n = RAD_SESSION_ALL;
        return 0;
    }
    if (!read_count(text, RAD_SESSION_ALL - 1, &value) || value == 0)
        return bad_usage(c, "--n '%.80s': use a number from 1 on, or inf", text);
    *n = (uint32_t)value;
    return 0;
}

void n_text(uint32_t n, char text[16])
{
    if (n == RAD_SESSION_ALL)
        snprintf(text, 16, "inf");
    else
        snprintf(text, 16, "%u", n);
}

int read_run(cli *c, const run_words *r, rad_session_options *o)
{
    int status;
    *o = rad_session_defaults();
    o->capacity = (uint32_t)r->capacity;
    o->seed = r->seed;
    if ((status = read_n(c, r->n, &o->n)) != 0 || (status = read_policy(c, r->policy, &o->policy)) != 0 ||
        (status = read_full(c, r->full, &o->full)) != 0)
        return status;
    return 0;
}

/* ---- Shared: in the lab ------------------------------------------------------------------------------- */

enum { HUNT_RUNS = 400, LAB_N_ALL = 1000, LAB_SESSIONS = 1000 };

int session_target(cli *c, const char *path, const run_words *r, const rad_session_options *o, rad_target *t)
{
    rad_error error = {.code = 0};
    char given[256];
    uint32_t n = o->n > LAB_N_ALL ? LAB_N_ALL : o->n;
    int used = snprintf(given, sizeof given, "n=%u sessions=%llu capacity=%u full=%u seed=%llu policy=%u", n,
                        (unsigned long long)(r->sessions < LAB_SESSIONS ? r->sessions : LAB_SESSIONS), o->capacity,
                        (unsigned)o->full, (unsigned long long)o->seed, (unsigned)o->policy);
    if (r->fuel > 0 && used > 0)
        snprintf(given + used, sizeof given - (size_t)used, " fuel=%llu", (unsigned long long)r->fuel);
    int code = rad_target_protocol(t, path, r->protocol, &error);
    if (code != 0) return complain_error(c, &error);
    if (rad_target_set(t, given, &error) != 0) {
        rad_target_free(t);
        return complain_error(c, &error);
    }
    return 0;
}

static void on_found(void *context, const rad_artifact *a)
{
    hunt_keep(context, a);
}

int session_hunt(hunt *h, const char *path, const run_words *r, const rad_session_options *o)
{
    rad_target t;
    rad_error error = {.code = 0};
    rad_exploration e = {.runs = 0};
    int status = session_target(h->c, path, r, o, &t);
    if (status != 0) return status;
    hunt_name(h, path, "session");
    rad_explore_options options = {.runs = HUNT_RUNS,
                                   .seed = 1,
                                   .jobs = 1,
                                   .stop_on_first = true,
                                   .found = on_found,
                                   .context = h,
                                   .interrupted = h->c->stop};
    int code = rad_lab_explore(&t, &options, &e, &error);
    if (code != 0 && code != RAD_EINTERRUPTED)
        status = complain_error(h->c, &error);
    else
        status = hunt_explain(h, &e, true);
    rad_exploration_free(&e);
    rad_target_free(&t);
    return status;
}

static const char *const SESSION_EXAMPLES[] = {
    "raddle session check examples/session/two_buyer.session",
    "is it well-formed, and how large do buffers have to be?",
    "raddle session run examples/session/two_buyer.session --n inf --policy round-robin",
    "run it once",
    "raddle session invariant examples/session/two_buyer.session",
    "look for two runs that a coroutine could tell apart",
    "raddle explore examples/session/two_buyer.session n=2",
    "try schedules one by one",
    NULL,
};

const verb VERB_SESSION = {
    .name = "session",
    .about = "protocols between roles: check, run, invariant, project, trace, draw",
    .text = "Check and run protocols: files that say who sends what to whom (docs/session.md).\n\n"
            "A protocol is split into a local type for each role; the session machine then allows "
            "only what the protocol allows. raddle explore FILE.session tries its schedules; "
            "replay, shrink and show take what it finds.",
    .status =
        "0 all as it should be, 1 stuck, faulted, or dependent on the schedule, " STATUS_ERRORS ", 130 interrupted",
    .examples = SESSION_EXAMPLES,
    .parts = PARTS,
    .part_count = PART_COUNT,
    .run = session_run,
};
