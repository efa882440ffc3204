/* diff.c — see diff.h: a comparison from beginning to end. */
#include "load/report/diff.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A gate that cries wolf once in twenty commits is switched off. */
static const double LEVEL_PCT = 1;

rad_load_diff_options rad_load_diff_defaults(void)
{
    return (rad_load_diff_options){.threshold_pct = -1, .level_pct = LEVEL_PCT};
}

static int check_options(const rad_load_diff_options *o, rad_error *error)
{
    if (isnan(o->threshold_pct) || isinf(o->threshold_pct))
        return rad__error(error, RAD_EINPUT, "the threshold is a number of percent from 0");
    if (!(o->level_pct > 0 && o->level_pct <= 50))
        return rad__error(error, RAD_EINPUT, "the level is a number of percent above 0, up to 50");
    return 0;
}

/* A run that is there twice tells nothing the second time, but a test would count it: also one of a simulated target
 * with the same seed. Logs are the same when their hashes are. */
static int check_side(const struct rad__load_side *side, const char *which, rad_error *error)
{
    if (side->count == 0) return rad__error(error, RAD_EINPUT, "%s: expected a run", which);
    for (uint32_t i = 0; i < side->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (side->runs[i]->chain != 0 && side->runs[i]->chain == side->runs[k]->chain)
                return rad__error(error, RAD_EINPUT,
                                  "%s: runs %" PRIu32 " and %" PRIu32 " are the same one (seed %" PRIu64
                                  "): repeated runs are expected, of a simulated target with other "
                                  "seeds",
                                  which, k + 1, i + 1, side->runs[i]->seed);
    return 0;
}

/* A side of which no run has any response. */
static void look_for_data(struct rad__load_comparison *c, uint32_t side)
{
    const struct rad__load_side *s = &c->sides[side];
    for (uint32_t i = 0; i < s->count; i++) {
        if (rad__load_result_no_data(s->runs[i], c->no_data[side])) continue;
        c->no_data[side][0] = 0;
        return;
    }
}

static char *write(const struct rad__load_comparison *c, bool json, rad_error *error)
{
    rad_bytes text = {0};
    if (json)
        rad__load_comparison_json(&text, c);
    else
        rad__load_comparison_text(&text, c);
    rad__bytes_put(&text, "", 1);
    if (!text.failed) return (char *)text.data;
    rad__bytes_free(&text);
    rad__error_memory(error);
    return NULL;
}

char *rad_load_diff(const rad_load_result *const *before, uint32_t before_count, const rad_load_result *const *after,
                    uint32_t after_count, const rad_load_diff_options *options, rad_load_difference *difference,
                    rad_error *error)
{
    rad_load_diff_options o = options != NULL ? *options : rad_load_diff_defaults();
    struct rad__load_comparison c = {.sides = {{before, before_count}, {after, after_count}},
                                     .threshold_pct = o.threshold_pct};
    rad__error_clear(error);
    if (check_options(&o, error) != 0 || check_side(&c.sides[0], "before", error) != 0 ||
        check_side(&c.sides[1], "after", error) != 0)
        return NULL;
    look_for_data(&c, 0);
    look_for_data(&c, 1);
    if (!rad__load_figures_make(&c.figures, c.sides) ||
        !rad__load_gate_make(&c.gate, c.sides, o.threshold_pct, o.level_pct / 100)) {
        rad__error_memory(error);
        return NULL;
    }
    char *text = write(&c, o.json, error);
    if (difference != NULL)
        *difference = (rad_load_difference){.worse = c.gate.worse,
                                            .better = c.gate.better,
                                            .rows = c.gate.count,
                                            .tested = c.gate.possible,
                                            .no_data = c.no_data[0][0] != 0 || c.no_data[1][0] != 0};
    rad__load_gate_free(&c.gate);
    return text;
}
