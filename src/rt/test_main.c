/* test_main.c — rad_test_main: tests are explored by the command `raddle`, or repeated on threads, each in a process of
 * its own. See test.h. */
#include "rt/test.h"

#include "base/readable.h"
#include "os/clock.h"
#include "os/term.h"
#include "os/trial.h"

#include <string.h>

enum { WORDS_MAX = 512, STATUS_FOUND = 1, STATUS_USAGE = 2, STATUS_RUNTIME = 3 };
enum { RUNS_DEFAULT = 100, SECONDS_DEFAULT = 60 };

/* This is the main of a program, which answers on its own standard output. */
static FILE *answers(void)
{
    return stdout; /* tidy: stdout ok */
}

/* ---- Under test: one test, once -------------------------------------------------------------------------- */

static const rad_test *named_test(int argc, char **argv)
{
    char text[400], names[300];
    const rad_test *test = NULL;
    if (rad__tests_wrong(text, sizeof text)) rad__test_refuses(text);
    rad__test_names(names, sizeof names);
    for (int i = 1; i < argc; i++) {
        if (strchr(argv[i], '=') != NULL) {
            if (!rad__test_set(argv[i], text, sizeof text)) rad__test_refuses(text);
            continue;
        }
        if (test != NULL) rad__test_refuses("one test at a time: 'raddle test' takes several");
        test = rad__test_find(argv[i]);
        if (test != NULL) continue;
        rad__readable_text(text, sizeof text, "unknown test '%.80s'; there are: %s", argv[i], names);
        rad__test_refuses(text);
    }
    if (test == NULL && rad__tests()->next == NULL) test = rad__tests();
    if (test != NULL) return test;
    rad__readable_text(text, sizeof text, "the program has several tests ('raddle test' explores all); name one of: %s",
                       names);
    rad__test_refuses(text);
}

static int run_explored(int argc, char **argv)
{
    rad_error error = {.code = 0};
    if (rad__test_is_listed()) {
        rad__test_catalog(answers());
        fflush(answers());
        return 0;
    }
    const rad_test *test = named_test(argc, argv);
    if (rad__test_run(test, &error) == 0) return 0;
    rad__test_refuses(error.text);
}

/* ---- On threads ------------------------------------------------------------------------------------------ */

typedef struct request {
    bool threads, list, help, tap;
    uint64_t runs, seconds, seed;
    const char *words[WORDS_MAX]; /* names of tests, and parts of names with a * */
    uint32_t word_count;
    rad_stress *shared;
} request;

static int refuse(const char *why)
{
    rad__readable_print(stderr, "tests: %s\n", why);
    return STATUS_USAGE;
}

/* `*` stands for anything. */
static bool matches(const char *pattern, const char *name)
{
    for (; *pattern; pattern++, name++) {
        if (*pattern == '*') {
            for (;; name++) {
                if (matches(pattern + 1, name)) return true;
                if (*name == 0) return false;
            }
        }
        if (*pattern != *name) return false;
    }
    return *name == 0;
}

static bool is_wanted(const request *r, const rad_test *t)
{
    for (uint32_t i = 0; i < r->word_count; i++)
        if (matches(r->words[i], t->name)) return true;
    return r->word_count == 0;
}

static const char no_such_test[] = "no test has such a name; --list shows them";

static bool any_wanted(const request *r)
{
    bool any = false;
    for (const rad_test *t = rad__tests(); t != NULL; t = t->next) any |= is_wanted(r, t);
    return any;
}

typedef struct repetition {
    const request *r;
    const rad_test *test;
} repetition;

static void run_once(void *context)
{
    const repetition *p = context;
    rad_stress *s = p->r->shared;
    rad_error error = {.code = 0};
    rad__test_stress(s);
    if (p->r->tap) rad__os_trial_aside(); /* nothing but TAP is on standard output */
    if (rad__test_run(p->test, &error) != 0) {
        rad__readable_text(s->text, sizeof s->text, "%s", error.text);
        rad__os_trial_ends(STATUS_RUNTIME);
    }
    s->done = true;
}

/* A process for each repetition, so that static variables begin anew, as they do when a test is explored. The last one
 * is that of the first failure. */
static int repeat(const request *r, const rad_test *test, rad_os_trial *how, rad_error *error)
{
    rad_stress *s = r->shared;
    repetition p = {r, test};
    uint64_t begin = rad__os_now_ns(), limit = r->seconds * UINT64_C(1000000000);
    for (uint64_t i = 0; i < r->runs; i++) {
        uint64_t used = rad__os_now_ns() - begin;
        s->seed = r->seed * UINT64_C(0x9e3779b97f4a7c15) + i * UINT64_C(0xd1342543de82ef95);
        s->draws = 0;
        s->done = false;
        int code = rad__os_trial(run_once, &p, used < limit ? limit - used : 1, how, error);
        if (code != 0) return code;
        if (!s->done || how->late) return 0;
        s->runs++;
    }
    return 0;
}

/* Goals that were come to and never held, or are in the test and were never come to. On threads that is luck, so it is
 * said, and is no failure. */
static void tell_goals(const request *r, const rad_test *t)
{
    static const char begin[] = "rad_test_of_";
    for (const rad_goal *g = rad__goals(); g != NULL; g = g->next) {
        uint8_t state = r->shared->goals[g->number];
        bool own = strcmp(g->file, t->file) == 0 && strncmp(g->function, begin, sizeof begin - 1) == 0 &&
                   strcmp(g->function + sizeof begin - 1, t->name) == 0;
        if (state & RAD_GOAL_HELD || (state == 0 && !own)) continue;
        rad__readable_print(answers(), "%snote: never on threads: %s (%s:%u, %s)\n", r->tap ? "# " : "      ", g->what,
                            g->file, g->line, state ? "not true there" : "no run came there");
    }
}

/* "": it passed. */
static void judge(const request *r, const rad_os_trial *how, char *text, size_t size)
{
    const rad_stress *s = r->shared;
    text[0] = 0;
    if (how->late)
        rad__readable_text(text, size, "not done after %llu s", (unsigned long long)r->seconds);
    else if (s->text[0])
        rad__readable_text(text, size, "%s", s->text);
    else if (how->signal)
        rad__readable_text(text, size, "killed by %s", strsignal(how->signal));
    else if (how->status == 124)
        rad__readable_text(text, size, "deadlock");
    else if (!s->done)
        rad__readable_text(text, size, "the test ended the process, with status %d", how->status);
    size_t used = strlen(text);
    if (used > 0)
        rad__readable_text(text + used, size - used, "; repetition %u of seed %llu", s->runs + !s->done,
                           (unsigned long long)r->seed);
}

static int stress_one(const request *r, const rad_test *t, uint32_t number, bool *failed)
{
    char text[800];
    rad_os_trial how;
    rad_error error = {.code = 0};
    memset(r->shared, 0, sizeof *r->shared);
    fflush(NULL);
    if (repeat(r, t, &how, &error) != 0) {
        rad__readable_print(stderr, "tests: %s\n", error.text);
        return STATUS_RUNTIME;
    }
    judge(r, &how, text, sizeof text);
    *failed = text[0] != 0;
    const char *lead = r->tap ? "ok" : "pass";
    if (text[0]) lead = r->tap ? "not ok" : "FAIL";
    if (r->tap)
        rad__readable_print(answers(), "%s %u - %s\n# ", lead, number, t->name);
    else
        rad__readable_print(answers(), "%-5s %s: ", lead, t->name);
    if (text[0])
        rad__readable_print(answers(), "run %u of %llu on threads\n", r->shared->runs + !r->shared->done,
                            (unsigned long long)r->runs);
    else
        rad__readable_print(answers(), "%u run%s on threads; other schedules were not tried\n", r->shared->runs,
                            r->shared->runs == 1 ? "" : "s");
    if (text[0]) rad__readable_print(answers(), "%s%s\n", r->tap ? "# " : "      ", text);
    if (text[0] == 0) tell_goals(r, t);
    fflush(answers());
    return 0;
}

static int run_stress(request *r)
{
    uint32_t count = 0, number = 0, failures = 0;
    char text[400];
    if (rad__tests_wrong(text, sizeof text)) return refuse(text);
    for (const rad_test *t = rad__tests(); t != NULL; t = t->next) count += is_wanted(r, t);
    if (count == 0) return refuse(no_such_test);
    r->shared = rad__os_trial_memory(sizeof *r->shared);
    if (r->shared == NULL) return refuse("out of memory") + 1;
    if (r->tap) rad__readable_print(answers(), "1..%u\n", count);
    for (const rad_test *t = rad__tests(); t != NULL; t = t->next) {
        bool failed = false;
        if (!is_wanted(r, t)) continue;
        int status = stress_one(r, t, ++number, &failed);
        if (status != 0) return status;
        failures += failed;
    }
    if (!r->tap)
        rad__readable_print(answers(), "%u passed, %u failed (on threads, seed %llu)\n", count - failures, failures,
                            (unsigned long long)r->seed);
    return failures ? STATUS_FOUND : 0;
}

static int list_tests(const request *r)
{
    char text[400];
    if (rad__tests_wrong(text, sizeof text)) return refuse(text);
    if (rad__tests() != NULL && !any_wanted(r)) return refuse(no_such_test);
    for (const rad_test *t = rad__tests(); t != NULL; t = t->next)
        if (is_wanted(r, t)) rad__readable_print(answers(), "%s\n", t->name);
    return 0;
}

/* ---- The command line -------------------------------------------------------------------------------------- */

static int help(void)
{
    rad__readable_print(answers(),
                        "tests [NAME ...] [PARAMETER=VALUE ...] [options]\n\n"
                        "Explores each test, with 'raddle test'; 'raddle test --help' has the options of that.\n"
                        "In a NAME * matches anything. The variable RADDLE_OPTIONS has options, too.\n\n"
                        "  --list        print the names of the tests\n"
                        "  --threads     run them on threads instead, each many times\n"
                        "    --runs N    N times (default: %d)\n"
                        "    --time S    at most S seconds for a test (default: %d)\n"
                        "    --seed S    of choices (default: 1)\n"
                        "    --tap       print TAP; --json, --junit FILE: with the help of 'raddle test'\n",
                        RUNS_DEFAULT, SECONDS_DEFAULT);
    return 0;
}

static bool read_count(const char *text, uint64_t *value)
{
    uint64_t n = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && n < UINT64_C(1000000000000000); at++) n = n * 10 + (uint64_t)(*at - '0');
    *value = n;
    return *text != 0 && *at == 0;
}

/* An option with a number, "--runs 3" or "--runs=3". How many words it has; 0: it is another one; -1: a mistake. */
static int take_number(const char *name, char **argv, uint64_t *value)
{
    size_t size = strlen(name);
    const char *text = argv[0] + size;
    if (strncmp(argv[0], name, size) != 0 || (*text != 0 && *text != '=')) return 0;
    if (*text == 0 && argv[1] == NULL) return -1;
    int used = *text ? 1 : 2;
    return read_count(*text ? text + 1 : argv[1], value) ? used : -1;
}

static int take_word(request *r, char **argv)
{
    static const char *const flags[] = {"--threads", "--list", "--help", "--tap", "-h"};
    bool *const set[] = {&r->threads, &r->list, &r->help, &r->tap, &r->help};
    char text[400];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(argv[0], flags[i]) != 0) continue;
        *set[i] = true;
        return 1;
    }
    int used = take_number("--runs", argv, &r->runs);
    if (used == 0) used = take_number("--seed", argv, &r->seed);
    if (used == 0) used = take_number("--time", argv, &r->seconds);
    if (used != 0) return used;
    if (argv[0][0] == '-') return -1;
    if (strchr(argv[0], '=') != NULL) {
        if (rad__test_set(argv[0], text, sizeof text)) return 1;
        refuse(text);
        return -2;
    }
    r->words[r->word_count++] = argv[0];
    return 1;
}

static int read_request(request *r, char **argv)
{
    char text[200];
    *r = (request){.runs = RUNS_DEFAULT, .seconds = SECONDS_DEFAULT, .seed = 1};
    while (*argv != NULL) {
        int used = take_word(r, argv);
        if (used == -1) {
            rad__readable_text(text, sizeof text,
                               "'%.80s': not an option of --threads, or without a number; --help "
                               "has them",
                               *argv);
            refuse(text);
        }
        if (used < 0) return STATUS_USAGE;
        argv += used;
    }
    return r->runs > 0 && r->seconds > 0 ? 0 : refuse("--runs and --time are above 0");
}

/* Those of RADDLE_OPTIONS, then those of the command line; false: too many. */
static bool all_words(int argc, char **argv, char **words, char *memory, size_t size)
{
    const char *variable = rad__os_env("RADDLE_OPTIONS");
    uint32_t count = 0;
    snprintf(memory, size, "%s", variable ? variable : "");
    for (char *at = memory + strspn(memory, " \t\n"); *at && count < WORDS_MAX;) {
        size_t length = strcspn(at, " \t\n");
        words[count++] = at;
        at += length;
        if (*at) *at++ = 0;
        at += strspn(at, " \t\n");
    }
    for (int i = 1; i < argc && count < WORDS_MAX; i++) words[count++] = argv[i];
    words[count] = NULL;
    return count < WORDS_MAX && (variable == NULL || strlen(variable) < size);
}

/* "--junit", or "--junit=FILE". */
static bool has_word(char **words, const char *word)
{
    size_t size = strlen(word);
    for (; *words != NULL; words++)
        if (strncmp(*words, word, size) == 0 && ((*words)[size] == 0 || (*words)[size] == '=')) return true;
    return false;
}

static int become_raddle(int argc, char **argv)
{
    char path[4096];
    static char verb[] = "test";
    char *words[WORDS_MAX + 4];
    rad_error error = {.code = 0};
    const char *self = rad__os_trial_program(argc > 0 ? argv[0] : NULL, path, sizeof path);
    int count = 1;
    words[count++] = verb;
    if (self != path) snprintf(path, sizeof path, "%s", self ? self : "");
    words[count++] = path;
    for (int i = 1; i < argc; i++) words[count++] = argv[i];
    words[count] = NULL;
    rad__os_trial_raddle(words, &error);
    rad__readable_print(stderr, "tests: %s\n", error.text);
    return STATUS_RUNTIME;
}

int rad_test_main(int argc, char **argv)
{
    static char memory[8192];
    static char *words[WORDS_MAX + 1];
    static request r;
    if (rad__test_is_explored()) return run_explored(argc, argv);
    rad__goals_number();
    if (argc >= WORDS_MAX || !all_words(argc, argv, words, memory, sizeof memory)) return refuse("too many arguments");
    if (has_word(words, "--help") || has_word(words, "-h")) return help();
    bool alone = has_word(words, "--threads") || has_word(words, "--list");
    if (!alone || has_word(words, "--junit") || has_word(words, "--json")) return become_raddle(argc, argv);
    int status = read_request(&r, words);
    if (status != 0) return status;
    return r.list ? list_tests(&r) : run_stress(&r);
}
