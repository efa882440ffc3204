/* target.c — words of the command line that name a machine, a file or a folder. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int unknown_machine(cli *c, const char *word)
{
    nearest n;
    nearest_begin(&n, word);
    const rad_machine *m;
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++) {
        nearest_try(&n, m->name);
    }
    if (strchr(word, '/')) {
        complain(c, "'%.200s' looks like a program: this version explores machines only", word);
    } else if (strchr(word, '=')) {
        complain(c, "the machine's name comes before its parameters, not '%.200s'", word);
    } else {
        complain(c, "no machine is called '%.200s'%s", word, nearest_hint(&n, ""));
    }
    fprintf(stderr, "'raddle list' shows the machines and their parameters.\n");
    return EXIT_USAGE;
}

bool target_is_file(const char *word)
{
    return rad_machine_find(word) == NULL &&
           (ends_with(word, ".json") || ends_with(word, ".session") || ends_with(word, ".toml") ||
            ends_with(word, ".flow") || rad_is_log(word));
}

static int read_case(cli *c, char **words, rad_target *t, rad_error *error)
{
    const char *path;
    if (!target_is_file(words[0])) {
        return rad_target_init(t, words[0], error);
    }
    int status = read_file_word(c, words, 1, &path);
    if (status != 0) {
        return status;
    }
    if (ends_with(path, ".flow")) return rad_target_flow(t, path, NULL, error);
    if (ends_with(path, ".toml")) return rad_target_scenario(t, path, error);
    return ends_with(path, ".session") ? rad_target_protocol(t, path, NULL, error)
                                       : rad_target_read(t, path, error);
}

int read_target(cli *c, char **words, uint32_t count, bool repaired, uint64_t max_steps,
                rad_target *t)
{
    rad_error error = {.code = 0};
    if (count == 0) {
        return bad_usage(c, "which machine? Expected: raddle %s MACHINE [NAME=VALUE …]", c->verb);
    }
    if (rad_machine_find(words[0]) == NULL && !target_is_file(words[0])) {
        return unknown_machine(c, words[0]);
    }
    /* All parameters in one call, so that one given twice is noticed. */
    char all[1024] = "";
    size_t used = 0;
    for (uint32_t i = 1; i < count && used < sizeof all; i++) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i > 1 ? " " : "", words[i]);
    }
    if (used >= sizeof all) {
        return bad_usage(c, "the parameters are too long: expected NAME=VALUE words");
    }
    int code = read_case(c, words, t, &error);
    if (code > 0) {
        return code; /* said already */
    }
    bool read = code == 0;
    if (read && used > 0) {
        code = rad_target_set(t, all, &error);
    }
    if (code != 0) {
        int status = complain_error(c, &error);
        if (read) {
            rad_target_free(t);
            fprintf(stderr, "'raddle list' shows the machines and their parameters.\n");
        }
        return status;
    }
    t->c.repaired = t->c.repaired || repaired;
    t->c.max_steps = max_steps ? max_steps : t->c.max_steps;
    return 0;
}

int read_file_word(cli *c, char **words, uint32_t count, const char **path)
{
    if (count == 0) {
        return bad_usage(c, "which file? Expected: raddle %s FILE", c->verb);
    }
    if (count > 1) {
        return bad_usage(c, "one file at a time: '%.200s' is one too many", words[1]);
    }
    struct stat about;
    int file = open(words[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        complain(c, "cannot open '%.400s': %s", words[0], strerror(errno));
        return EXIT_USAGE;
    }
    bool folder = fstat(file, &about) == 0 && S_ISDIR(about.st_mode);
    close(file);
    if (folder) {
        complain(c, "'%.400s' is a folder; 'raddle corpus' replays a whole folder", words[0]);
        return EXIT_USAGE;
    }
    *path = words[0];
    return 0;
}

int read_artifact(cli *c, const char *path, bool edited_ok, rad_artifact **a)
{
    rad_error error = {.code = 0};
    if (rad_is_log(path)) {
        complain(c, "'%.400s' is a log, not an artifact; 'raddle replay' reads logs", path);
        return EXIT_USAGE;
    }
    if (rad_artifact_read(a, path, edited_ok, &error) != 0) {
        return complain_error(c, &error);
    }
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

int check_policy(cli *c, const char *name)
{
    nearest n;
    rad_named p;
    size_t size = strcspn(name, ":");
    nearest_begin(&n, name);
    for (uint32_t i = 0; rad_policy_at(i, &p); i++) {
        if (strcspn(p.name, ":") == size && strncmp(p.name, name, size) == 0) {
            return 0; /* the library reads what follows the colon */
        }
        nearest_try(&n, p.name);
    }
    return bad_usage(c, "no policy is called '%.80s'%s 'raddle list' shows them", name,
                     *nearest_hint(&n, "") ? nearest_hint(&n, "") : ";");
}

int check_output(cli *c, const char *dir)
{
    struct stat about;
    if (dir == NULL || (stat(dir, &about) == 0 && S_ISDIR(about.st_mode))) {
        return 0;
    }
    return bad_usage(c, "--output: '%.200s' is not a folder; create it first", dir);
}
