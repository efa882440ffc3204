/* options.h — the options of a command as a table: parsing, ranges, suggestions and --help come from it. */
#ifndef RAD_COMMAND_OPTIONS_H
#define RAD_COMMAND_OPTIONS_H

#include "cli.h"

enum option_kind {
    OPTION_FLAG = 0, /* bool */
    OPTION_TEXT,     /* const char * */
    OPTION_TEXTS,    /* text_list: it may stand there several times */
    OPTION_COUNT,    /* uint64_t, within min … max */
    OPTION_SECONDS,  /* double, above 0 */
    OPTION_PERCENT   /* double, from 0 */
};

enum { OPTION_TEXTS_MOST = 64 };

typedef struct text_list {
    const char *items[OPTION_TEXTS_MOST];
    uint32_t count;
} text_list;

struct option {
    const char *name; /* without the dashes; NULL ends the table */
    enum option_kind kind;
    size_t at;         /* offset of the variable in the verb's arguments */
    const char *value; /* "N"; what the help calls its value */
    const char *about; /* NULL: another name of the one before, not in the help */
    uint64_t min, max;
    char letter; /* also -x; 0: none */
};

#define SEED_MAX ((uint64_t)INT64_MAX)

/* Options several verbs have, so that they read the same everywhere. */
#define OPTION_JSON(type)                                                                                              \
    {                                                                                                                  \
        "json", OPTION_FLAG, offsetof(type, json), NULL, "print one JSON object instead of text", 0, 0, 0              \
    }
#define OPTION_SEED(type)                                                                                              \
    {                                                                                                                  \
        "seed", OPTION_COUNT, offsetof(type, seed), "S", "random seed (default: 1)", 0, SEED_MAX, 0                    \
    }
/* The first name of a thing is in the help, and says the other. */
#define OPTION_FIXED(type)                                                                                             \
    {"fixed",                                                                                                          \
     OPTION_FLAG,                                                                                                      \
     offsetof(type, repaired),                                                                                         \
     NULL,                                                                                                             \
     "take the fixed version, without the bug; also --repaired",                                                       \
     0,                                                                                                                \
     0,                                                                                                                \
     0},                                                                                                               \
    {                                                                                                                  \
        "repaired", OPTION_FLAG, offsetof(type, repaired), NULL, NULL, 0, 0, 0                                         \
    }
#define OPTION_MAX_STEPS(type)                                                                                         \
    {                                                                                                                  \
        "max-steps", OPTION_COUNT, offsetof(type, max_steps), "N",                                                     \
            "cut a run after N steps: neither pass nor failure (default: 100,000)", 1, UINT64_C(1000000000), 0         \
    }

typedef struct words {
    char **at;
    uint32_t count;
} words;

enum { GO_ON = -1 };

/* Fills `into` and the words that are no options (they are moved to the front of argv). Returns GO_ON,
 * or the exit status: 0 after --help, EXIT_USAGE after a message. */
int options_parse(cli *c, const verb *v, int argc, char **argv, void *into, words *w) RAD_COMMAND(options_parse);

/* For a verb that has nothing to keep: from here on the first SIGINT, SIGTERM or SIGHUP ends it. All others look at
 * c->stop. */
void ends_at_once(const cli *c, const verb *v) RAD_COMMAND(ends_at_once);

/* The place of the first word that is no option, or argc. Nothing is moved. */
int options_word(const verb *v, int argc, char **argv) RAD_COMMAND(options_word);

void verb_help(cli *c, const verb *v) RAD_COMMAND(verb_help);

/* Digits only; false when it is something else or above max. */
bool read_count(const char *text, uint64_t max, uint64_t *value) RAD_COMMAND(read_count);

#endif
