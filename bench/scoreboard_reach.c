/* scoreboard_reach.c — how many schedules each strategy needs to reach the bugs of the literature.
 *
 *     scoreboard_reach [PROGRAM …] [--tiny] [--json FILE]
 *
 * Small programs of SCTBench, 20 seeds each, at most 10,000 schedules a seed: in how many seeds the bug was found, the
 * mean and the median number of schedules to the first failure in those, and the published figures beside them.
 * SafeStack gets 1,000,000 schedules, as published, but five seeds. Prints a table in Markdown; FILE gets one JSON
 * object per line. A strategy that `explore` does not know is left out.
 *
 * Published: the data of Zhao et al. 2025 (SURW), 20 trials each. Their programs also switch threads at accesses to
 * local variables (they are compiled without optimisation), ours only at what threads share. So PCT and the random
 * walk, which spread their choices over all points, have it easier here. */
#include "bench.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 20, LIMIT = 10000, HARD_SEEDS = 5, HARD_LIMIT = 1000000, HARD_STEPS = 1000 };
enum { TRIALS = 20 }; /* published */

static const char *const strategies[] = {"surw", "pct:3", "pct:10", "pos", "random", "auto"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

typedef struct subject {
    const char *name; /* in the literature */
    const char *machine, *words;
    /* For the strategies in order: the mean, and behind a slash in how many of 20 trials it was found, if not in all;
     * "never"; "?" where nothing was published. */
    const char *published;
    bool hard; /* more schedules, fewer seeds, and runs that spin are cut early */
} subject;

static const subject subjects[] = {
    {"reorder_3", "reorder", "n=3", "7 185 148 86 never ?", false},
    {"reorder_5", "reorder", "n=5", "10 647 1094 2169 never ?", false},
    {"reorder_10", "reorder", "n=10", "17 3225/16 4462/12 never never ?", false},
    {"reorder_50", "reorder", "n=50", "13 3304/6 9422/1 never never ?", false},
    {"reorder_100", "reorder", "n=100", "194 never never never never ?", false},
    {"twostage_20", "twostage", "n=20", "6 159 101 156 never ?", false},
    {"twostage_50", "twostage", "n=50", "20 1676 692 1637 never ?", false},
    {"twostage_100", "twostage", "n=100", "454 7466/3 5726/9 6674/3 never ?", false},
    {"stringbuffer-jdk1.4", "stringbuffer", NULL, "8 281 26 23 2243/19 ?", false},
    {"WorkStealQueue", "wsq", NULL, "6 48 16 12 ? ?", false},
    {"InterlockedWorkStealQueue", "wsq-interlocked", NULL, "6 48 13 14 never ?", false},
    {"StateWorkStealQueue", "wsq-state", NULL, "7 842 199 6 ? ?", false},
    {"bluetooth_driver", "bluetooth", NULL, "70 112 83 36 215 ?", false},
    {"qsort_mt", "qsort-mt", NULL, "3048/19 4714/14 3689/15 3004/18 3442/19 ?", false},
    {"SafeStack", "safestack", NULL, "368921/19 never never never never ?", true},
};

/* ---- Figures ---------------------------------------------------------------------------------------- */

typedef struct reach {
    bool known; /* or nothing was measured, or published */
    uint32_t found, seeds;
    double mean, median;
} reach;

/* Word number `index` of the published figures. */
static reach published(const subject *s, uint32_t index)
{
    const char *at = s->published;
    while (index-- > 0) at = strchr(at, ' ') + 1;
    reach r = {.known = *at != '?', .seeds = TRIALS};
    if (*at < '0' || *at > '9') return r;
    char *end;
    r.mean = strtod(at, &end);
    r.found = *end == '/' ? (uint32_t)strtoul(end + 1, NULL, 10) : TRIALS;
    return r;
}

/* Worse than twice the published mean; where not every trial found it, found less often. */
static bool is_worse(const reach *ours, const reach *theirs)
{
    if (!ours->known || !theirs->known || theirs->found == 0) return false;
    bool all = theirs->found == theirs->seeds && ours->found == ours->seeds;
    if (all) return ours->mean > 2 * theirs->mean;
    return (double)ours->found / ours->seeds < (double)theirs->found / theirs->seeds;
}

/* `first` is kept in order. */
static void add_first(reach *r, uint64_t *first, uint64_t runs)
{
    uint32_t at = r->found++;
    for (; at > 0 && first[at - 1] > runs; at--) first[at] = first[at - 1];
    first[at] = runs;
}

static void summarise(reach *r, const uint64_t *first)
{
    if (r->found == 0) return;
    for (uint32_t i = 0; i < r->found; i++) r->mean += (double)first[i] / r->found;
    r->median = (double)(first[(r->found - 1) / 2] + first[r->found / 2]) / 2;
}

static reach measure(const rad_target *t, const char *strategy, uint32_t seeds, uint64_t limit)
{
    reach r = {.seeds = seeds};
    uint64_t first[SEEDS];
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        rad_error error = {0};
        rad_exploration x;
        rad_explore_options o = {.strategy = strategy, .runs = limit, .seed = seed, .stop_on_first = true};
        int status = rad_lab_explore(t, &o, &x, &error);
        if (status == RAD_EINPUT) return r; /* this strategy does not exist */
        if (status != 0) {
            fprintf(stderr, "scoreboard_reach: %s\n", error.text);
            exit(3);
        }
        r.known = true;
        if (x.finding_count) add_first(&r, first, x.findings[0].run + 1);
        rad_exploration_free(&x);
    }
    summarise(&r, first);
    return r;
}

/* ---- The table -------------------------------------------------------------------------------------- */

static void print_mean(const char *before, double mean, const char *after)
{
    char text[BENCH_COUNT_TEXT];
    printf("%s%s%s", before, bench_count((uint64_t)(mean + 0.5), text), after);
}

static void print_reach(const reach *r, bool median)
{
    if (!r->known)
        printf("?");
    else if (r->found == 0)
        printf("never");
    else
        print_mean("", r->mean, "");
    if (!r->known || r->found == 0) return;
    if (median) print_mean(" (", r->median, ")");
    if (r->found < r->seeds) printf(" in %u/%u", r->found, r->seeds);
}

static void print_cell(const subject *s, uint32_t strategy, const reach *ours, FILE *json)
{
    reach theirs = published(s, strategy);
    bool worse = is_worse(ours, &theirs);
    if (!ours->known) {
        printf(" not known |");
        return;
    }
    printf(worse ? " **" : " ");
    print_reach(ours, true);
    printf(worse ? "**" : "");
    if (theirs.known) {
        printf(" · ");
        print_reach(&theirs, false);
    }
    printf(" |");
    fflush(stdout);
    if (json == NULL) return;
    fprintf(json,
            "{\"suite\": \"reach\", \"name\": \"%s\", \"strategy\": \"%s\", \"found\": %s, "
            "\"found_seeds\": %u, \"seeds\": %u, \"mean\": %.1f, \"median\": %.1f, "
            "\"published_found\": %u, \"published_mean\": %.0f, \"published\": %s, \"worse\": %s}\n",
            s->name, strategies[strategy], ours->found ? "true" : "false", ours->found, ours->seeds, ours->mean,
            ours->median, theirs.found, theirs.mean, theirs.known ? "true" : "false", worse ? "true" : "false");
}

static bool print_row(const subject *s, const bench *b)
{
    rad_target t;
    rad_error error = {0};
    if (rad_target_init(&t, s->machine, &error) != 0 || (s->words && rad_target_set(&t, s->words, &error) != 0)) {
        fprintf(stderr, "scoreboard_reach: %s\n", error.text);
        return false;
    }
    uint32_t seeds = s->hard ? HARD_SEEDS : SEEDS;
    uint64_t limit = s->hard ? HARD_LIMIT : LIMIT;
    if (s->hard) t.c.max_steps = HARD_STEPS;
    printf("| %s |", s->name);
    for (uint32_t i = 0; i < STRATEGIES; i++) {
        reach r = measure(&t, strategies[i], b->tiny ? 1 : seeds, b->tiny ? 60 : limit);
        print_cell(s, i, &r, b->json);
    }
    printf("\n");
    return true;
}

static bool is_wanted(const char *name, char *const *names, int count)
{
    bool wanted = count == 0;
    for (int i = 0; i < count; i++) wanted |= strcmp(name, names[i]) == 0;
    return wanted;
}

int main(int argc, char **argv)
{
    bench b;
    char **names = argv + 1;
    int count = 0;
    while (count + 1 < argc && argv[count + 1][0] != '-') count++;
    if (!bench_open_plain(&b, "scoreboard_reach", argc - count, argv + count)) return 2;
    printf("mean (median) · published mean; in all seeds, or in so many of them\n\n| program |");
    for (uint32_t i = 0; i < STRATEGIES; i++) printf(" `%s` |", strategies[i]);
    printf("\n|---|");
    for (uint32_t i = 0; i < STRATEGIES; i++) printf("---|");
    printf("\n");
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (is_wanted(subjects[i].name, names, count) && !print_row(&subjects[i], &b)) return 2;
    return bench_close_plain(&b);
}
