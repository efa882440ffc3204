/* plant.c — plants bugs: `plant [-o DIR] ROOT LIST...`. A list has one bug a line:
 *
 *   NAME in [FILE:]FUNCTION: OLD => NEW by TEST...
 *
 * OLD and NEW are C tokens; NEW may be empty. OLD has to occur once in the function of that name, wherever it is
 * defined in ROOT/src or ROOT/include: white space, comments, wrapped lines, renamed files do not matter. FILE is the
 * end of a path (chan.c, rt/chan.c), needed where two files define the name. `in FILE:` looks in the whole file, for
 * what is outside of functions. Lines that begin with # are comments.
 *
 *   TEST is              PART_X   tests/unit/PART/test_X.c
 *                        X        tests/judge/test_X.c
 *                        X:F      its test function F alone (for programs that read TEST_ONLY)
 *                        tsan:X   test_X with the thread sanitizer; asan:X with the address sanitizer
 *                        hunt:X   tests/hunt/hunt_X.c
 *                        cli:X    tests/cli/X.sh
 *                        symbols  tools/check_symbols.sh
 *
 * With -o each bug becomes a directory DIR/LIST.LINE: files name, list, file (the path from ROOT), words (its tests)
 * and planted (the text of the file with the bug in it). Exits 2 when a list is wrong, after a line LIST:LINE: REASON
 * for each mistake: no match, two matches, an unknown or ambiguous place, an unknown test, a name used twice. */
#define _GNU_SOURCE
#include "c_tokens.h"
#include "tidy_source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The tree ------------------------------------------------------------------------------------- */

struct definition {
    size_t file; /* index of source and tokens */
    struct c_function function;
};

static struct {
    const char *root;
    struct source_list sources;
    struct c_tokens *tokens; /* per source */
    struct definition *functions;
    size_t function_count;
} tree;

static void read_functions(size_t file)
{
    struct c_function f;
    for (size_t at = 0; c_next_function(&tree.tokens[file], &at, &f);) {
        tree.functions = tidy_grow(tree.functions, tree.function_count + 1, sizeof *tree.functions);
        tree.functions[tree.function_count++] = (struct definition){file, f};
    }
}

static void read_tree(const char *root)
{
    tree.root = root;
    tidy_read_tree(&tree.sources, root, "include");
    tidy_read_tree(&tree.sources, root, "src");
    tree.tokens = calloc(tree.sources.count + 1, sizeof *tree.tokens);
    for (size_t i = 0; i < tree.sources.count; i++) {
        const struct source *s = &tree.sources.files[i];
        c_tokens_read(&tree.tokens[i], s->text, s->size);
        read_functions(i);
    }
}

/* ---- A line of a list ------------------------------------------------------------------------------ */

struct bug {
    const char *list;                     /* its path */
    size_t line;                          /* in the list */
    char *name, *file, *function, *words; /* file or function may be NULL */
    struct c_tokens old;
    const char *new_text; /* between => and by, with the spaces there, so that nothing grows together */
    size_t new_length;
    size_t in;       /* the source where it was found, */
    size_t from, to; /* and the part of its text that NEW replaces */
};

static size_t mistakes;

/* Reports a mistake; false. */
__attribute__((format(printf, 2, 3))) static bool wrong(const struct bug *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%zu: ", b->list, b->line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    mistakes++;
    return false;
}

/* Cuts the next word off *text; NULL at the end. */
static char *next_word(char **text)
{
    char *word = *text + strspn(*text, " \t");
    char *end = word + strcspn(word, " \t");
    *text = *end ? end + 1 : end;
    *end = 0;
    return *word ? word : NULL;
}

/* FILE:FUNCTION, FUNCTION or FILE, which has a dot. */
static void read_place(struct bug *b, char *place)
{
    char *colon = strchr(place, ':');
    if (colon) *colon = 0;
    b->file = colon || strchr(place, '.') ? place : NULL;
    b->function = colon ? colon + 1 : b->file ? NULL : place;
}

static bool read_change(struct bug *b, char *text)
{
    struct c_tokens all = {0};
    c_tokens_read(&all, text, strlen(text));
    b->old = all;
    size_t arrow = all.count, by = all.count;
    for (size_t i = 0; i < all.count; i++) {
        if (c_token_is(&all.all[i], "=>") && arrow == all.count) arrow = i;
        if (c_token_is(&all.all[i], "by")) by = i; /* the last: tests have no such name */
    }
    if (arrow == all.count || by == all.count || by < arrow)
        return wrong(b, "%s: expected OLD => NEW by TEST...", b->name);
    if (arrow == 0) return wrong(b, "%s: OLD is empty", b->name);
    b->old.count = arrow;
    b->new_text = all.all[arrow].at + 2;
    b->new_length = (size_t)(all.all[by].at - b->new_text);
    b->words = (char *)all.all[by].at + 2;
    return true;
}

static bool read_line(struct bug *b, char *line)
{
    b->name = next_word(&line);
    char *in = next_word(&line);
    char *place = next_word(&line);
    if (!in || strcmp(in, "in") != 0 || !place || !tidy_ends_with(place, ":"))
        return wrong(b, "expected NAME in [FILE:]FUNCTION: OLD => NEW by TEST...");
    place[strlen(place) - 1] = 0;
    read_place(b, place);
    return read_change(b, line);
}

/* ---- Where it goes --------------------------------------------------------------------------------- */

static bool is_path_end(const char *path, const char *end)
{
    if (!tidy_ends_with(path, end)) return false;
    size_t at = strlen(path) - strlen(end);
    return at == 0 || path[at - 1] == '/';
}

/* Looks for OLD in a part of a source, and notes where it is. Returns the number of matches. */
static size_t match_in(struct bug *b, size_t file, size_t from, size_t to)
{
    const struct c_tokens *tokens = &tree.tokens[file];
    const struct source *s = &tree.sources.files[file];
    size_t matches = 0;
    for (size_t at = from; (at = c_tokens_find(tokens, at, to, &b->old)) < to; at++) {
        const struct c_token *first = &tokens->all[at], *last = &tokens->all[at + b->old.count - 1];
        b->from = (size_t)(first->at - s->text);
        b->to = (size_t)(last->at - s->text) + last->length;
        matches++;
    }
    return matches;
}

/* Matches in all definitions of one name in one file (there may be two, behind #if), or in a whole file. */
static bool find_match(struct bug *b)
{
    const char *kind = b->function ? "function" : "file";
    const char *place = b->function ? b->function : b->file;
    size_t matches = 0, files = 0;
    for (size_t i = 0; i < (b->function ? tree.function_count : tree.sources.count); i++) {
        const struct definition *d = b->function ? &tree.functions[i] : NULL;
        size_t file = d ? d->file : i;
        if (b->file && !is_path_end(tree.sources.files[file].path, b->file)) continue;
        if (d && !c_token_is(d->function.name, b->function)) continue;
        if (files > 0 && b->in != file)
            return wrong(b, "%s: %s %s is in %s and in %s", b->name, kind, place, tree.sources.files[b->in].path,
                         tree.sources.files[file].path);
        files = 1;
        b->in = file;
        matches += match_in(b, file, d ? d->function.from : 0, d ? d->function.to : tree.tokens[i].count);
    }
    bool both = b->function && b->file;
    if (files == 0) return wrong(b, "%s: no %s %s%s%s", b->name, kind, place, both ? " in " : "", both ? b->file : "");
    if (matches == 0) return wrong(b, "%s: OLD does not occur in %s", b->name, place);
    if (matches > 1) return wrong(b, "%s: OLD occurs %zu times in %s", b->name, matches, place);
    return true;
}

/* ---- Its tests ------------------------------------------------------------------------------------- */

/* Does ROOT/tests/FORMAT exist, and contain the word if there is one? */
static bool file_exists(const char *format, const char *name, size_t length, const char *function)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/tests/", tree.root);
    snprintf(path + n, sizeof path - (size_t)n, format, (int)length, name);
    FILE *file = fopen(path, "r");
    char line[1024];
    bool found = file && !function;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *at = strstr(line, function);
        found = at && !tidy_is_word_char(at[strlen(function)]) && (at == line || !tidy_is_word_char(at[-1]));
    }
    if (file) fclose(file);
    return found;
}

static bool test_exists(const char *name, size_t length, const char *function)
{
    char part[64];
    size_t size = strcspn(name, "_");
    snprintf(part, sizeof part, "unit/%.*s/test_%%.*s.c", (int)size, name);
    return (size < length && file_exists(part, name + size + 1, length - size - 1, function)) ||
           file_exists("judge/test_%.*s.c", name, length, function);
}

static bool word_is_good(const char *word)
{
    const char *colon = strchr(word, ':');
    if (strcmp(word, "symbols") == 0) return true;
    if (tidy_starts_with(word, "hunt:")) return file_exists("hunt/hunt_%.*s.c", word + 5, strlen(word + 5), NULL);
    if (tidy_starts_with(word, "cli:")) return file_exists("cli/%.*s.sh", word + 4, strlen(word + 4), NULL);
    if (tidy_starts_with(word, "tsan:") || tidy_starts_with(word, "asan:"))
        return test_exists(word + 5, strlen(word + 5), NULL);
    size_t length = colon ? (size_t)(colon - word) : strlen(word);
    return test_exists(word, length, colon ? colon + 1 : NULL);
}

static bool check_words(const struct bug *b)
{
    char *copy = strdup(b->words), *rest = copy, *word;
    size_t count = 0;
    bool good = true;
    for (; good && (word = next_word(&rest)); count++)
        if (!word_is_good(word)) good = wrong(b, "%s: no test %s", b->name, word);
    free(copy);
    return good && count == 0 ? wrong(b, "%s: expected a test after 'by'", b->name) : good;
}

/* ---- Lists ----------------------------------------------------------------------------------------- */

static struct {
    struct bug *all;
    size_t count;
} bugs;

static void check_name(const struct bug *b)
{
    for (size_t i = 0; i < bugs.count; i++)
        if (strcmp(bugs.all[i].name, b->name) == 0)
            wrong(b, "%s: the name is already in %s:%zu", b->name, bugs.all[i].list, bugs.all[i].line);
}

static void read_list(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "plant: cannot read %s\n", path);
        exit(2);
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    for (size_t number = 1; (length = getline(&line, &room, file)) >= 0; number++) {
        if (length > 0 && line[length - 1] == '\n') line[length - 1] = 0;
        struct bug b = {.list = path, .line = number};
        if (line[0] == '#' || line[strspn(line, " \t")] == 0) continue;
        char *copy = strdup(line); /* bugs keep pieces of it */
        bool right = read_line(&b, copy);
        if (right) check_name(&b);
        if (!right || !find_match(&b) || !check_words(&b)) {
            free(b.old.all);
            free(copy);
            continue;
        }
        bugs.all = tidy_grow(bugs.all, bugs.count + 1, sizeof *bugs.all);
        bugs.all[bugs.count++] = b;
    }
    free(line);
    fclose(file);
}

/* ---- Planting -------------------------------------------------------------------------------------- */

static FILE *create(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "plant: cannot write %s\n", path);
        exit(2);
    }
    return file;
}

static void write_line(const char *directory, const char *name, const char *text)
{
    FILE *file = create(directory, name);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static void write_bug(const struct bug *b, const char *out)
{
    const char *slash = strrchr(b->list, '/');
    const char *list = slash ? slash + 1 : b->list;
    int length = (int)strcspn(list, ".");
    char directory[2048], name[1024];
    snprintf(name, sizeof name, "%.*s", length, list);
    snprintf(directory, sizeof directory, "%s/%s.%05zu", out, name, b->line);
    mkdir(directory, 0777);
    const struct source *s = &tree.sources.files[b->in];
    write_line(directory, "name", b->name);
    write_line(directory, "list", name);
    write_line(directory, "file", s->path);
    write_line(directory, "words", b->words);
    FILE *file = create(directory, "planted");
    fwrite(s->text, 1, b->from, file);
    fwrite(b->new_text, 1, b->new_length, file);
    fwrite(s->text + b->to, 1, s->size - b->to, file);
    fclose(file);
}

int main(int argc, char **argv)
{
    const char *out = argc > 2 && strcmp(argv[1], "-o") == 0 ? argv[2] : NULL;
    int at = out ? 3 : 1;
    if (argc < at + 2) {
        fprintf(stderr, "usage: plant [-o DIR] ROOT LIST...\n");
        return 2;
    }
    read_tree(argv[at]);
    for (int i = at + 1; i < argc; i++) read_list(argv[i]);
    if (mistakes > 0) return 2;
    for (size_t i = 0; out && i < bugs.count; i++) write_bug(&bugs.all[i], out);
    return 0;
}
