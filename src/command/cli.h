/* cli.h — what every verb of the command line has in hand.
 *
 * The verbs in this folder work on any machine; src/cli has the verbs that only `raddle` has.
 * Results go to stdout through the out_ functions, which remember the first failed write; everything
 * else goes to stderr. The command line sees the library through <raddle/…> only. */
#ifndef RADDLE_COMMAND_CLI_H
#define RADDLE_COMMAND_CLI_H

#include <raddle/lab.h>

enum {
    EXIT_FINE = 0,
    EXIT_FOUND = 1,   /* a failure, a difference */
    EXIT_USAGE = 2,   /* bad usage, bad input */
    EXIT_RUNTIME = 3, /* I/O, resources */
    EXIT_BUG = 4,
    EXIT_INTERRUPTED = 130
};

typedef struct cli {
    const char *verb;          /* for messages; "" before it is known */
    bool colour;               /* of stdout */
    bool progress;             /* stderr is a terminal */
    bool utf8;                 /* what stdout shows; otherwise plain ASCII stands in */
    uint32_t width;            /* columns of stdout */
    const char *temp_dir;      /* where temporary folders go */
    const char *const *stress; /* raddle only: see cli/exec.h */
    int write_error;           /* errno of the first write to stdout that failed */
    volatile int *stop;        /* set by SIGINT and SIGTERM */
} cli;

/* ---- Output (out.c) ------------------------------------------------------------------------------ */

/* Text may come from a file somebody sent: control characters become '?', colours stay. */
void make_harmless(char *text);
void out(cli *c, const char *format, ...) RAD_PRINTF(2, 3);
void out_text(cli *c, const char *text); /* of any length */
void out_paragraph(cli *c, uint32_t indent, const char *text);
/* From `column` on, wrapped between words; later lines begin at `indent`. Ends the line. */
void out_wrapped(cli *c, uint32_t column, uint32_t indent, const char *text);
void out_flush(cli *c);

/* Flushes; the status to leave with: `status` itself, or EXIT_RUNTIME when stdout could not be
 * written. A reader that has gone away (a closed pipe) is not an error. */
int out_close(cli *c, int status);

enum style { STYLE_OFF = 0, STYLE_BOLD, STYLE_DIM, STYLE_BAD, STYLE_GOOD, STYLE_MARK };
const char *style(const cli *c, enum style s); /* "" without colour */

/* "1,234,567". Up to eight results live at a time. */
const char *number(uint64_t n);

/* "s" unless it is one: number(n), plural(n). */
const char *plural(uint64_t n);

/* A word as a shell reads it: quoted when it has to be. Up to four results live at a time. */
const char *shell_word(const char *word);

/* ---- Errors (error.c) ---------------------------------------------------------------------------- */

/* "raddle explore: text" on stderr. */
void complain(const cli *c, const char *format, ...) RAD_PRINTF(2, 3);

/* The same for an error of the library; returns the exit status that belongs to it. */
int complain_error(const cli *c, const rad_error *error);
int exit_status(int code);

/* complain, add "see 'raddle VERB --help'", return EXIT_USAGE. */
int bad_usage(const cli *c, const char *format, ...) RAD_PRINTF(2, 3);

/* Nearest of many names to a mistyped one. */
typedef struct nearest {
    const char *word, *best;
    uint32_t distance;
} nearest;
void nearest_begin(nearest *n, const char *word);
void nearest_try(nearest *n, const char *name);

/* "; did you mean 'runs'?" or "". The text lives until the next call. */
const char *nearest_hint(const nearest *n, const char *prefix);

/* ---- Input (target.c) ---------------------------------------------------------------------------- */

/* "machine name=value …" or "case.json name=value …" → target; rad_target_free it. Returns 0 or an exit
 * status, message printed. */
int read_target(cli *c, char **words, uint32_t count, bool repaired, uint64_t max_steps,
                rad_target *t);
bool target_is_file(const char *word);
bool ends_with(const char *text, const char *end);

/* A policy there is, as far as its name goes. Returns 0 or an exit status. */
int check_policy(cli *c, const char *name);

/* A folder for --output, or NULL. Returns 0 or an exit status. */
int check_output(cli *c, const char *dir);

/* The one FILE of replay, shrink, show. Returns 0 or an exit status. */
int read_file_word(cli *c, char **words, uint32_t count, const char **path);
int read_artifact(cli *c, const char *path, bool edited_ok, rad_artifact **a);

/* "dir/name"; false when it does not fit. */
bool join_path(char *path, size_t size, const char *dir, const char *name);

/* ---- Verbs --------------------------------------------------------------------------------------- */

typedef struct option option;

typedef struct verb {
    const char *name;
    const char *about; /* one line */
    const char *usage; /* what follows the verb */
    const char *text;  /* paragraphs of --help */
    const option *options;
    const char *const *examples; /* pairs: command, what it does; NULL at the end */
    int (*run)(cli *c, int argc, char **argv);
} verb;

extern const verb VERB_LIST, VERB_RUN, VERB_EXPLORE, VERB_REPLAY, VERB_SHRINK, VERB_SHOW,
    VERB_CORPUS;

#endif
