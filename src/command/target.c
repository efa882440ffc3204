/* target.c — words of the command line that name a machine, a file or a folder. */
#include "cli.h"

#include "os/file.h"

#include <raddle/policy.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void hint_at_list(const cli *c)
{
    char text[1200];
    translate(c, "'raddle list' shows machines and parameters.", text, sizeof text);
    note("%s\n", text);
}

/* A word with no slash that names what is here: a program to be typed with one, or what no command takes. */
static int unknown_file(cli *c, const char *word, bool folder)
{
    const char *dot = strrchr(word, '.');
    bool source = dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".cc") == 0 || strcmp(dot, ".cpp") == 0);
    if (folder)
        complain(c, "'%.200s': a directory; expected ./PROGRAM, a machine, or a file", word);
    else if (access(word, X_OK) == 0)
        complain(c, "unknown machine '%.200s'; to run the program, type ./%.200s", word, word);
    else if (source)
        complain(c, "'%.200s': a source file; compile it with -g, and give the program: ./%.*s", word,
                 (int)(dot - word), word);
    else
        complain(c, "'%.200s': expected ./PROGRAM, a machine, or a file: .json, .session, .flow, .toml, a decision log",
                 word);
    if (source || folder) return EXIT_USAGE;
    hint_at_list(c);
    return EXIT_USAGE;
}

static int unknown_machine(cli *c, const char *word)
{
    struct stat about;
    if (strchr(word, '/') == NULL && stat(word, &about) == 0) return unknown_file(c, word, S_ISDIR(about.st_mode));
    rad_suggest n;
    rad__suggest_begin(&n, word, strlen(word));
    const rad_machine *m;
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++) rad__suggest_consider(&n, m->name);
    if (strchr(word, '/'))
        complain(c, "unknown machine '%.200s'", word);
    else if (strchr(word, '='))
        complain(c, "missing machine before '%.200s'", word);
    else
        complain(c, "unknown machine '%.200s'%s", word, rad__suggest_text(&n, ""));
    hint_at_list(c);
    return EXIT_USAGE;
}

/* The machine that is meant when none is named: the only one of a program. */
static const rad_machine *only_machine(void)
{
    const rad_machine *m, *only = NULL;
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++) {
        if (rad_machine_is_added(m)) {
            if (only) return NULL;
            only = m;
        }
    }
    return only;
}

bool target_is_file(const char *word)
{
    return rad_machine_find(word) == NULL && (ends_with(word, ".json") || ends_with(word, ".session") ||
                                              ends_with(word, ".toml") || ends_with(word, ".flow") || rad_is_log(word));
}

const char *target_file(char **words, uint32_t count)
{
    return count > 0 && target_is_file(words[0]) ? words[0] : NULL;
}

static int read_case(cli *c, char *word, rad_target *t, rad_error *error)
{
    const char *path;
    if (!target_is_file(word)) return rad_target_init(t, word, error);
    int status = read_file_word(c, &word, 1, &path);
    if (status != 0) return status;
    if (ends_with(path, ".flow")) return rad_target_flow(t, path, NULL, error);
    if (ends_with(path, ".toml")) return rad_target_scenario(t, path, error);
    return ends_with(path, ".session") ? rad_target_protocol(t, path, NULL, error) : rad_target_read(t, path, error);
}

int no_fixed_version(cli *c, const char *name)
{
    return bad_usage(c, "--%s needs a machine; to try the fixed version of a program, build it and name that", name);
}

int read_target(cli *c, char **words, uint32_t count, bool repaired, uint64_t max_steps, rad_target *t)
{
    rad_error error = {.code = 0};
    const rad_machine *only = count == 0 || strchr(words[0], '=') ? only_machine() : NULL;
    if (count == 0 && only == NULL)
        return rad_lab_program_own()
                   ? bad_usage(c, "missing MACHINE; usage: raddle %s MACHINE [NAME=VALUE ...]", c->verb)
                   : bad_usage(c, "missing TARGET: ./PROGRAM, a machine, or a file");
    if (only == NULL && rad_machine_find(words[0]) == NULL && !target_is_file(words[0]))
        return unknown_machine(c, words[0]);
    /* All parameters in one call, so that one given twice is noticed. */
    char all[1024] = "";
    size_t used = 0;
    for (uint32_t i = only == NULL; i < count && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? " " : "", words[i]);
    if (used >= sizeof all) return bad_usage(c, "parameters too long");
    int code = only ? rad_target_init(t, only->name, &error) : read_case(c, words[0], t, &error);
    if (code > 0) return code; /* said already */
    bool read = code == 0;
    if (read && used > 0) code = rad_target_set(t, all, &error);
    if (code != 0) {
        const char *file = read || only ? NULL : target_file(words, count);
        int status = file ? refuse_file(c, file, &error) : complain_error(c, &error);
        if (read) {
            rad_target_free(t);
            hint_at_list(c);
        }
        return status;
    }
    if (repaired && c->program_words) {
        rad_target_free(t);
        return no_fixed_version(c, "fixed");
    }
    t->c.repaired = t->c.repaired || repaired;
    t->c.max_steps = max_steps ? max_steps : t->c.max_steps;
    return 0;
}

int read_file_word(cli *c, char **words, uint32_t count, const char **path)
{
    if (count == 0) return bad_usage(c, "missing FILE; usage: raddle %s FILE", c->verb);
    if (count > 1) return bad_usage(c, "unexpected argument '%.200s': give one file", words[1]);
    const char *kind = rad__os_not_regular(words[0]);
    int file = kind ? -1 : open(words[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (kind) {
        bool replays = strcmp(kind, "a directory") == 0 && strcmp(c->verb, "replay") == 0;
        complain(c,
                 replays ? "'%.400s': a directory; 'raddle corpus' replays all files of one"
                         : "'%.400s': %s, not a regular file",
                 words[0], kind);
        return EXIT_USAGE;
    }
    if (file < 0) {
        complain(c, "cannot open '%.400s': %s", words[0], strerror(errno));
        return EXIT_USAGE;
    }
    close(file);
    *path = words[0];
    return 0;
}

void name_program(const cli *c, const char *path, const rad_lab_program *program)
{
    char command[8192];
    cli with = *c;
    with.program = program->path;
    /* `exec` takes no program; `run` and `explore` take one under test by itself, not with a file. */
    bool starts = strcmp(c->verb, "run") == 0 || strcmp(c->verb, "explore") == 0;
    bool takes = strncmp(c->verb, "exec ", 5) != 0 && !(starts && program->library[0]);
    command_text(&with, takes ? c->verb : "replay", path, command, sizeof command);
    note("Type: %s\n", command);
}

int refuse_file(const cli *c, const char *path, const rad_error *error)
{
    rad_lab_program program;
    int status = complain_error(c, error);
    if (error->code == RAD_EINPUT && rad_lab_program_own() == NULL && rad_lab_program_of(path, &program))
        name_program(c, path, &program);
    return status;
}

bool other_build(const rad_lab_program *recorded)
{
    const rad_lab_program *own = rad_lab_program_own();
    return recorded && own && strcmp(recorded->build_id, own->build_id) != 0;
}

void note_build(const cli *c, const char *path, const rad_lab_program *recorded)
{
    if (other_build(recorded)) {
        complain(c,
                 "note: '%.400s' was recorded with another build of the program (%.300s, build id "
                 "%s; this is %s); what differs may be a change of the program, and only the build "
                 "that recorded it repeats it for certain",
                 path, recorded->path, recorded->build_id, rad_lab_program_own()->build_id);
    }
    const rad_lab_program *own = rad_lab_program_own();
    if (recorded && own && recorded->library[0] && own->library[0] && strcmp(recorded->library, own->library) != 0) {
        complain(c,
                 "note: '%.400s' was recorded with another build of raddle's library for programs "
                 "(build id %s; this is %s)",
                 path, recorded->library, own->library);
    }
}

/* By its first bytes. A schedule file may be printed as base64: then it begins as "{" does there. */
enum file_kind file_kind(const char *path)
{
    static const struct {
        const char *magic;
        enum file_kind kind;
    } all[] = {{"RADDLELOG\n", FILE_DECISIONS}, {"RADLOAD\n", FILE_LOAD},
               {"RADFLOW\n", FILE_JOURNAL},     {"{", FILE_SCHEDULE},
               {"ew", FILE_SCHEDULE},           {"ey", FILE_SCHEDULE}};
    char head[64] = "";
    FILE *f = fopen(path, "r");
    size_t size = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f) fclose(f);
    const char *at = head + strspn(head, " \t\r\n");
    if (size == 0) return FILE_EMPTY;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(at, all[i].magic, strlen(all[i].magic)) == 0) return all[i].kind;
    return FILE_UNKNOWN;
}

/* What it is instead; 0: it may be one. */
static int not_schedule(cli *c, const char *path)
{
    switch (file_kind(path)) {
    case FILE_LOAD: complain(c, "'%.400s': the log of a load test; 'raddle load replay' takes it", path); break;
    case FILE_JOURNAL:
        complain(c, "'%.400s': the journal of a workflow; 'raddle flow replay' takes its directory", path);
        break;
    case FILE_UNKNOWN: complain(c, "'%.400s': neither a schedule file (JSON) nor a decision log", path); break;
    default: return 0; /* an empty file is a schedule file that was cut off: its reader says where */
    }
    return EXIT_USAGE;
}

int read_artifact(cli *c, const char *path, bool edited_ok, rad_artifact **a)
{
    rad_error error = {.code = 0};
    int status = not_schedule(c, path);
    if (status != 0) return status;
    if (rad_is_log(path)) {
        complain(c,
                 "'%.400s': a decision log, not a schedule file; 'raddle replay' and 'raddle show' "
                 "take it",
                 path);
        return EXIT_USAGE;
    }
    if (rad_artifact_read(a, path, edited_ok, &error) != 0) return refuse_file(c, path, &error);
    note_build(c, path, rad_artifact_program(*a));
    return 0;
}

bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

bool join_path(char *path, size_t size, const char *dir, const char *name)
{
    size_t length = dir ? strlen(dir) : 0;
    const char *slash = length == 0 || dir[length - 1] == '/' ? "" : "/";
    int used = snprintf(path, size, "%s%s%s", length ? dir : "", slash, name);
    return used >= 0 && (size_t)used < size;
}

int load_policy(cli *c, const char **name)
{
    static char loaded[RAD_POLICY_TEXT_MAX]; /* one of them a command */
    rad_error error = {.code = 0};
    if (*name == NULL || strchr(*name, '/') == NULL) return 0;
    if (rad_policy_load(*name, loaded, &error) != 0) return complain_error(c, &error);
    *name = loaded;
    return 0;
}

int read_policy_word(cli *c, const char **word)
{
    rad_suggest n;
    rad_named p;
    int status = load_policy(c, word);
    if (status != 0) return status;
    const char *name = *word;
    size_t size = strcspn(name, ":");
    rad__suggest_begin(&n, name, strlen(name));
    for (uint32_t i = 0; rad_policy_at(i, &p); i++) {
        if (strcspn(p.name, ":") == size && strncmp(p.name, name, size) == 0)
            return 0; /* the library reads what follows the colon */
        rad__suggest_consider(&n, p.name);
    }
    return bad_usage(c, "unknown policy '%.80s'%s 'raddle list' shows all", name,
                     *rad__suggest_text(&n, "") ? rad__suggest_text(&n, "") : ";");
}

int check_strategy(cli *c, const char *name)
{
    rad_suggest n;
    rad_named s;
    size_t size = name ? strcspn(name, ":") : 0;
    if (name == NULL) return 0;
    rad__suggest_begin(&n, name, strlen(name));
    for (uint32_t i = 0; rad_strategy_at(i, &s); i++) {
        if (strcspn(s.name, ":") == size && strncmp(s.name, name, size) == 0)
            return 0; /* the library reads what follows the colon */
        rad__suggest_consider(&n, s.name);
    }
    return bad_usage(c, "unknown strategy '%.80s'%s 'raddle list' shows all", name,
                     *rad__suggest_text(&n, "") ? rad__suggest_text(&n, "") : ";");
}

int check_output(cli *c, const char *dir)
{
    struct stat about;
    if (dir == NULL || (stat(dir, &about) == 0 && S_ISDIR(about.st_mode))) return 0;
    return bad_usage(c, "--output: '%.200s' is not an existing directory", dir);
}
