/* weave_trial.c — drawing weaves, exploring them, artifacts by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weave_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

uint32_t weave_times(uint32_t count)
{
    return count * (uint32_t)number_from("RADDLE_STRESS", 1);
}

static void make(struct weave_trial *trial, uint64_t seed, int fixed)
{
    uint64_t mixed = weave_mix(seed);
    trial->c = (struct weave_case){(int64_t)seed, (int64_t)(2 + mixed % 3), WEAVE_OPS - (int64_t)(mixed / 3 % 2),
                                   mixed / 6 % 6 == 0, fixed};
    weave_make(&trial->w, &trial->c);
}

void weave_again(struct weave_trial *trial, uint64_t seed, int fixed, uint32_t limit)
{
    make(trial, seed, fixed);
    weave_brute(&trial->w, limit, &trial->b);
    assert_false(trial->b.too_many);
    trial->t = weave_target(&trial->c);
}

static void draw(struct weave_trial *trial, uint32_t *at, uint32_t limit, bool crashing, int fixed)
{
    uint64_t base = number_from("RADDLE_STRESS_SEED", 1) % 1000000000;
    for (;;) {
        make(trial, base * 1000000 + (*at)++, fixed);
        if (trial->w.crashes != crashing) continue;
        weave_brute(&trial->w, limit, &trial->b);
        if (!trial->b.too_many && trial->b.count > 1) break;
        weave_book_free(&trial->b);
    }
    trial->t = weave_target(&trial->c);
}

void weave_draw(struct weave_trial *trial, uint32_t *at, uint32_t limit, bool crashing)
{
    draw(trial, at, limit, crashing, WEAVE_DRAWN);
}

void weave_draw_spinning(struct weave_trial *trial, uint32_t *at, uint32_t limit)
{
    static const int kinds[] = {WEAVE_TAKING, WEAVE_SPINNING, WEAVE_TRYING};
    do {
        draw(trial, at, limit, false, kinds[*at % 3]);
        if (trial->b.held > 0) return;
        weave_trial_free(trial);
    } while (true);
}

void weave_draw_trying(struct weave_trial *trial, uint32_t *at, uint32_t limit)
{
    do {
        draw(trial, at, limit, false, WEAVE_TRYING);
        if (trial->b.held > 0) return;
        weave_trial_free(trial);
    } while (true);
}

bool weave_spin_on(struct weave_trial *trial, uint8_t rounds, uint32_t limit)
{
    weave_book_free(&trial->b);
    trial->w.spin_rounds = rounds;
    weave_brute(&trial->w, limit, &trial->b);
    return !trial->b.too_many;
}

void weave_trial_free(struct weave_trial *trial)
{
    weave_book_free(&trial->b);
}

void weave_fail(const struct weave_trial *trial, const char *what, const char *file, int line, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char target[200];
    rad_target_text(&trial->t, target, sizeof target);
    print_message("# %s: %u schedules\n", target, trial->b.count);
    weave_print(&trial->w);
    fail_msg("%s:%d: %s does not hold: %s", file, line, what, text);
}

rad_exploration weave_explore(const struct weave_trial *trial, const rad_explore_options *o)
{
    rad_exploration found = {0};
    rad_error error = {0};
    weave_spy_forget();
    int code = rad_lab_explore(&trial->t, o, &found, &error);
    weave_check(trial, code == 0, "%s: %s", o->strategy, error.text);
    weave_check(trial, weave_spy()->count <= WEAVE_SPIED, "too many runs to remember");
    return found;
}

/* ---- Artifacts -------------------------------------------------------------------------------------------- */

static char folder[64];

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    RAD_IGNORE(system(command));
}

const char *weave_file(const char *name)
{
    static char path[200];
    if (!folder[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%.40s/weave-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
        assert_non_null(mkdtemp(folder));
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

uint32_t weave_choices(const rad_artifact *a, uint32_t *choices, uint32_t room)
{
    rad_error error = {0};
    char *text = rad_artifact_json(a, &error);
    assert_non_null(text);
    char *at = strstr(text, "\"choices\"");
    assert_non_null(at);
    uint32_t count = 0;
    for (at = strchr(at, '[') + 1;; at++) {
        at += strspn(at, " \n\t,");
        if (*at == ']') break;
        assert_true(count < room);
        choices[count++] = (uint32_t)strtoul(at, &at, 10);
        at--;
    }
    rad_free(text);
    return count;
}

rad_artifact *weave_artifact(const struct weave_trial *trial, const uint32_t *choices, uint32_t count)
{
    const char *path = weave_file("hand.raddle.json");
    const struct weave_case *c = &trial->c;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "{\"schema_version\":1,\"build\":{\"version\":\"0\",\"git_sha\":\"0\",\"compiler\":"
            "\"0\"},\"machine\":\"%s\","
            "\"case\":{\"repaired\":false,\"params\":{\"seed\":%" PRId64 ",\"actors\":%" PRId64 ",\"ops\":%" PRId64
            ",\"slack\":%" PRId64 ",\"fixed\":%" PRId64 "},\"max_steps\":0},\"policy\":\"guide\",\"seed\":1,"
            "\"expect\":\"pass\",\"steps\":0,\"decisions\":0,\"choices\":[",
            trial->t.machine->name, c->seed, c->actors, c->ops, c->slack, c->fixed);
    for (uint32_t i = 0; i < count; i++) fprintf(f, "%s%u", i ? "," : "", choices[i]);
    fprintf(f, "],\"set_hashes\":[],\"expected_trace_hash\":\"%032d\",\"checksum\":\"%032d\"}", 0, 0);
    assert_int_equal(fclose(f), 0);
    rad_artifact *a = NULL;
    rad_error error = {0};
    int code = rad_artifact_read(&a, path, true, &error);
    weave_check(trial, code == 0, "%s", error.text);
    return a;
}

/* ---- Sets of schedules --------------------------------------------------------------------------------------- */

bool weave_within_preemptions(const struct weave_leaf *leaf, uint32_t bound)
{
    return leaf->preemptions <= bound;
}

bool weave_within_delays(const struct weave_leaf *leaf, uint32_t bound)
{
    return leaf->delays <= bound;
}

bool weave_any(const struct weave_leaf *leaf, uint32_t bound)
{
    (void)leaf, (void)bound;
    return true;
}

uint32_t weave_count(const struct weave_trial *trial, weave_wanted *wanted, uint32_t bound)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trial->b.count; i++) count += wanted(&trial->b.leaves[i], bound);
    return count;
}

/* The first phase with this beginning of a name that has runs left. */
static bool next_of_lane(const rad_exploration *x, const char *lane, const uint64_t *left, uint32_t *phase)
{
    for (*phase = 0; *phase < x->phase_count; ++*phase)
        if (left[*phase] > 0 && strncmp(x->phases[*phase].name, lane, strlen(lane)) == 0) return true;
    return false;
}

void weave_phases(const rad_exploration *x, bool turns, uint8_t phase_of[WEAVE_SPIED])
{
    static const struct {
        const char *name;
        uint64_t share;
    } lanes[] = {{"baseline", 1}, {"random", 2}, {"surw", 6}, {"pct", 2}, {"pos", 2}, {"preempt", 4}};
    uint64_t left[RAD_PHASES_MAX], at = 0;
    uint32_t phase;
    memset(phase_of, 0xff, WEAVE_SPIED); /* replays are spied, too */
    for (phase = 0; phase < x->phase_count; phase++) left[phase] = x->phases[phase].runs;
    if (!turns) {
        for (phase = 0; phase < x->phase_count; phase++)
            for (; left[phase] > 0; left[phase]--) phase_of[at++] = (uint8_t)phase;
        return;
    }
    for (uint32_t round = 0; at < x->runs; round++) {
        assert_true(round < 40); /* the phases do not add up */
        for (size_t l = 0; l < sizeof lanes / sizeof *lanes; l++) {
            for (uint64_t n = lanes[l].share << round; n > 0 && next_of_lane(x, lanes[l].name, left, &phase); n--) {
                phase_of[at++] = (uint8_t)phase;
                left[phase]--;
            }
        }
    }
}

void weave_same_set(const struct weave_trial *trial, const uint8_t *phase_of, uint8_t phase, weave_wanted *wanted,
                    uint32_t bound, const char *where)
{
    const struct weave_spy *spy = weave_spy();
    bool *met = calloc(trial->b.count, sizeof *met);
    uint32_t count = 0;
    assert_non_null(met);
    for (uint32_t i = 0; i < spy->count; i++) {
        if (phase_of[i] != phase) continue;
        const struct weave_leaf *leaf = weave_find(&trial->b, spy->runs[i].path);
        weave_check(trial, leaf != NULL, "%s: run %u is no schedule of it", where, i);
        weave_check(trial, leaf->outcome == spy->runs[i].outcome, "%s: run %u ended otherwise", where, i);
        weave_check(trial, !met[leaf - trial->b.leaves], "%s: run %u was tried before", where, i);
        weave_check(trial, wanted(leaf, bound), "%s: run %u has %u preemptions, %u delays", where, i, leaf->preemptions,
                    leaf->delays);
        met[leaf - trial->b.leaves] = true;
        count++;
    }
    free(met);
    weave_check(trial, count == weave_count(trial, wanted, bound), "%s: %u runs, %u schedules", where, count,
                weave_count(trial, wanted, bound));
}
