/* cli.h — what every verb of the command line has in hand.
 *
 * The verbs in this folder work on any machine; src/cli has the verbs that only `raddle` has.
 * Results go to stdout through the out_ functions, which remember the first failed write; everything
 * else goes to stderr. The command line sees the library through <raddle/…>; of its inside it uses base and os. */
#ifndef RAD_COMMAND_CLI_H
#define RAD_COMMAND_CLI_H

#include "base/suggest.h"

#include <raddle/lab.h>

/* Names that cross files are short here, and begin with rad__ in the library, so that they are not in the way of
 * those of a program that is linked with it. */
#define RAD_COMMAND(name) __asm__("rad__command_" #name)

enum {
    EXIT_FINE = 0,
    EXIT_FOUND = 1,   /* a failure, a difference */
    EXIT_USAGE = 2,   /* bad usage, bad input */
    EXIT_RUNTIME = 3, /* I/O, resources */
    EXIT_BUG = 4,
    EXIT_INTERRUPTED = 130
};

typedef struct cli {
    const char *self;          /* what the user types: "raddle", or the program with machines, "./pet" */
    const char *program;       /* that raddle has started and this is, "./pet"; "": raddle has not */
    const char *program_words; /* its arguments, as they are typed in a shell, each with a blank before it; or NULL */
    const char *program_lacks; /* a program under test: what reports about it miss; or NULL */
    const char *verb;          /* for messages; "" before it is known */
    bool terminal;             /* stdout is one */
    bool colour;               /* of stdout */
    bool progress;             /* stderr is a terminal */
    bool utf8;                 /* what stdout shows; otherwise plain ASCII */
    uint32_t width;            /* columns of stdout */
    uint32_t progress_width;   /* columns of stderr; 0: not known */
    const char *temp_dir;      /* where temporary folders go */
    const char *const *stress; /* raddle only: see cli/exec.h */
    struct rad_bytes *capture; /* what would go to stdout goes here; NULL: it does not */
    int write_error;           /* errno of the first write to stdout that failed */
    /* raddle only: shows a file of a load test, or the journal of a workflow (cli/show_other.c). */
    int (*show_other)(struct cli *c, const char *path, bool journal, bool json);
    volatile int *stop;                   /* set by SIGINT, SIGTERM and SIGHUP: os/signal.h */
    const struct rad_os_signals *signals; /* as this process was started with them */
} cli;

/* ---- Output (out.c) ------------------------------------------------------------------------------ */

/* Texts may come from a file that another person sent. What %s prints is one name, shown on one line whatever is in it
 * (base/readable.h); only a style passes as it is. */
void out(cli *c, const char *format, ...) RAD_COMMAND(out) RAD_PRINTF(2, 3);
/* A text of several lines, of any length. */
void out_text(cli *c, const char *text) RAD_COMMAND(out_text);
/* The same with colours in it: the library has made it, and let names through the gate itself. */
void out_drawn(cli *c, const char *text) RAD_COMMAND(out_drawn);
/* Bytes that are a user's data, as they are: never to a terminal. */
void out_raw(cli *c, const char *bytes, size_t size) RAD_COMMAND(out_raw);
/* To stderr, as out does. */
void note(const char *format, ...) RAD_COMMAND(note) RAD_PRINTF(1, 2);
/* The same as out_text: a text of several lines between two others. */
void note_text(const char *before, const char *text, const char *after) RAD_COMMAND(note_text);
void out_paragraph(cli *c, uint32_t indent, const char *text) RAD_COMMAND(out_paragraph);
/* From `column` on, wrapped between words; later lines begin at `indent`. Ends the line. */
void out_wrapped(cli *c, uint32_t column, uint32_t indent, const char *text) RAD_COMMAND(out_wrapped);
/* The same on a terminal; otherwise one line, for programs that look for it. */
void out_long(cli *c, uint32_t column, uint32_t indent, const char *text) RAD_COMMAND(out_long);
void out_flush(cli *c) RAD_COMMAND(out_flush);

/* Flushes; the status to leave with: `status` itself, or EXIT_RUNTIME when stdout could not be
 * written. A reader that has gone away (a closed pipe) is not an error. */
int out_close(cli *c, int status) RAD_COMMAND(out_close);

enum style { STYLE_OFF = 0, STYLE_BOLD, STYLE_DIM, STYLE_BAD, STYLE_GOOD, STYLE_MARK };
const char *style(const cli *c, enum style s) RAD_COMMAND(style); /* "" without colour */

/* "1,234,567". Up to eight results live at a time. */
const char *number(uint64_t n) RAD_COMMAND(number);

/* "s" unless it is one: number(n), plural(n). */
const char *plural(uint64_t n) RAD_COMMAND(plural);

/* A word as a shell reads it: quoted when it has to be. Up to four results live at a time. */
const char *shell_word(const char *word) RAD_COMMAND(shell_word);

/* A command to type that takes a file: "raddle replay x.raddle.json", in a program "./pet replay x.raddle.json". */
void command_text(const cli *c, const char *name, const char *file, char *text, size_t size) RAD_COMMAND(command_text);

/* Texts name commands as raddle has them ("'raddle list' shows all"); in a program they are its own. */
void translate(const cli *c, const char *text, char *to, size_t size) RAD_COMMAND(translate);

/* ---- Errors (error.c) ---------------------------------------------------------------------------- */

/* "raddle explore: text" on stderr. */
void complain(const cli *c, const char *format, ...) RAD_COMMAND(complain) RAD_PRINTF(2, 3);

/* The same for an error of the library; returns the exit status that belongs to it. */
int complain_error(const cli *c, const rad_error *error) RAD_COMMAND(complain_error);
int exit_status(int code) RAD_COMMAND(exit_status);

/* complain, add "see 'raddle VERB --help'", return EXIT_USAGE. */
int bad_usage(const cli *c, const char *format, ...) RAD_COMMAND(bad_usage) RAD_PRINTF(2, 3);

/* ---- Input (target.c) ---------------------------------------------------------------------------- */

/* A bad use: --`name` of a program under test, of which there is no other version. */
int no_fixed_version(cli *c, const char *name) RAD_COMMAND(no_fixed_version);
/* "machine name=value …" or "case.json name=value …" → target; rad_target_free it. Returns 0 or an exit
 * status, message printed. */
int read_target(cli *c, char **words, uint32_t count, bool repaired, uint64_t max_steps, rad_target *t)
    RAD_COMMAND(read_target);
/* The file among the words of a target, or NULL. */
const char *target_file(char **words, uint32_t count) RAD_COMMAND(target_file);
bool target_is_file(const char *word) RAD_COMMAND(target_is_file);
bool ends_with(const char *text, const char *end) RAD_COMMAND(ends_with);

/* A policy there is, as far as its name goes; one in a shared object (a path with a slash) is loaded, and *name becomes
 * its name. Returns 0 or an exit status. */
int read_policy_word(cli *c, const char **name) RAD_COMMAND(read_policy_word);

/* The second half for a word that names something else, too: a path is loaded, a name stays as it is. */
int load_policy(cli *c, const char **name) RAD_COMMAND(load_policy);

/* The name of a strategy, as far as its colon; or NULL. Returns 0 or an exit status. */
int check_strategy(cli *c, const char *name) RAD_COMMAND(check_strategy);

/* A folder for --output, or NULL. Returns 0 or an exit status. */
int check_output(cli *c, const char *dir) RAD_COMMAND(check_output);

/* What a file is, by its first bytes. */
enum file_kind { FILE_SCHEDULE, FILE_DECISIONS, FILE_LOAD, FILE_JOURNAL, FILE_EMPTY, FILE_UNKNOWN };
enum file_kind file_kind(const char *path) RAD_COMMAND(file_kind);

/* The one FILE of replay, shrink, show. Returns 0 or an exit status. */
int read_file_word(cli *c, char **words, uint32_t count, const char **path) RAD_COMMAND(read_file_word);
int read_artifact(cli *c, const char *path, bool edited_ok, rad_artifact **a) RAD_COMMAND(read_artifact);

/* The library cannot use the file: complains, returns the exit status. If the file was recorded with a program with
 * machines, the command to type follows. Nothing starts that program: its name comes from the file. */
int refuse_file(const cli *c, const char *path, const rad_error *error) RAD_COMMAND(refuse_file);
void name_program(const cli *c, const char *path, const rad_lab_program *program) RAD_COMMAND(name_program);

/* Whether this program is another build than the one that recorded a run; `recorded` may be NULL. A note says so. */
bool other_build(const rad_lab_program *recorded) RAD_COMMAND(other_build);
void note_build(const cli *c, const char *path, const rad_lab_program *recorded) RAD_COMMAND(note_build);

/* "dir/name"; false when it does not fit. */
bool join_path(char *path, size_t size, const char *dir, const char *name) RAD_COMMAND(join_path);

/* ---- Verbs --------------------------------------------------------------------------------------- */

typedef struct option option;
typedef struct verb verb;

/* A command. docs/cli.md and docs/raddle.1 are made from its --help: tools/write_docs.sh. */
struct verb {
    const char *name;
    const char *about;           /* one line */
    const char *usage;           /* what follows the name, a line for each form; NULL: one of its parts does */
    const char *text;            /* paragraphs: an imperative sentence, then what it needs to be understood */
    const char *status;          /* "0 done, " STATUS_ERRORS */
    const option *options;       /* NULL: --help only */
    const char *const *examples; /* pairs: what can be pasted, what it does; NULL at the end */
    const verb *const *parts;    /* "exec run" and the like; NULL: none */
    size_t part_count;
    int (*run)(cli *c, int argc, char **argv);
};

#define STATUS_ERRORS "2 bad arguments or file, 3 I/O, memory or limit, 4 bug in Raddle"

extern const verb VERB_LIST RAD_COMMAND(list);
extern const verb VERB_RUN RAD_COMMAND(run);
extern const verb VERB_EXPLORE RAD_COMMAND(explore);
extern const verb VERB_REPLAY RAD_COMMAND(replay);
extern const verb VERB_SHRINK RAD_COMMAND(shrink);
extern const verb VERB_SHOW RAD_COMMAND(show);
extern const verb VERB_CORPUS RAD_COMMAND(corpus);
extern const verb VERB_TEST RAD_COMMAND(test);

#endif
