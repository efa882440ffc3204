/* tidy_source.c — reads C files and takes them apart into lines and words. */
#define _GNU_SOURCE
#include "tidy_source.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *tidy_grow(void *block, size_t count, size_t size)
{
    void *larger = realloc(block, (count ? count : 1) * size);
    if (!larger) {
        fprintf(stderr, "tidy: out of memory\n");
        exit(3);
    }
    return larger;
}

bool tidy_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool tidy_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Where the copy that strips comments and literals stands. */
enum place { IN_CODE, IN_LINE_COMMENT, IN_BLOCK_COMMENT, IN_STRING, IN_CHARACTER };

/* Blanks s->text[i] in the copies as `place` asks. Newlines stay, so lines stay. */
static void blank(struct source *s, size_t i, enum place place)
{
    if (s->text[i] == '\n' || place == IN_CODE) return;
    s->code[i] = ' ';
    if (place == IN_LINE_COMMENT || place == IN_BLOCK_COMMENT) s->plain[i] = ' ';
}

static void strip(struct source *s)
{
    enum place place = IN_CODE;
    for (size_t i = 0; i < s->size; i++) {
        char c = s->text[i];
        char next = s->text[i + 1];
        if (place == IN_CODE) {
            if (c == '/' && next == '/') {
                place = IN_LINE_COMMENT;
            } else if (c == '/' && next == '*') {
                place = IN_BLOCK_COMMENT;
                blank(s, i++, place);
            } else if (c == '"' || c == '\'') {
                place = c == '"' ? IN_STRING : IN_CHARACTER;
                continue;
            }
            blank(s, i, place);
            continue;
        }
        if (place == IN_BLOCK_COMMENT && c == '*' && next == '/') {
            blank(s, i++, place);
            blank(s, i, place);
            place = IN_CODE;
        } else if (place == IN_LINE_COMMENT && c == '\n' && s->text[i - 1] != '\\') {
            place = IN_CODE;
        } else if ((place == IN_STRING && c == '"') || (place == IN_CHARACTER && c == '\'')) {
            place = IN_CODE;
        } else if ((place == IN_STRING || place == IN_CHARACTER) && c == '\\' && next) {
            blank(s, i++, place);
            blank(s, i, place);
        } else if ((place == IN_STRING || place == IN_CHARACTER) && c == '\n') {
            place = IN_CODE; /* unterminated: an apostrophe after #error, say */
        } else {
            blank(s, i, place);
        }
    }
}

static void split_lines(struct source *s)
{
    for (size_t i = 0; i <= s->size; i++) {
        bool starts = i == 0 || s->text[i - 1] == '\n';
        if (i == s->size || starts) {
            s->line_at = tidy_grow(s->line_at, s->line_count + 2, sizeof *s->line_at);
            s->line_at[s->line_count] = i;
            s->line_count += i < s->size;
        }
    }
}

size_t tidy_line_of(const struct source *s, size_t offset)
{
    size_t low = 0, high = s->line_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (s->line_at[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* The part [*from, *to) of line number `line`, without its newline. */
void tidy_line_range(const struct source *s, size_t line, size_t *from, size_t *to)
{
    *from = s->line_at[line - 1];
    *to = s->line_at[line];
    if (*to > *from && s->text[*to - 1] == '\n') --*to;
}

static void read_source(struct source_list *list, const char *root, const char *path)
{
    char full[8192];
    snprintf(full, sizeof full, "%s/%s", root, path);
    FILE *file = fopen(full, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0) {
        fprintf(stderr, "tidy: cannot read %s\n", full);
        exit(3);
    }
    struct source s = {.path = strdup(path)};
    s.size = (size_t)status.st_size;
    s.text = tidy_grow(NULL, s.size + 2, 1);
    s.size = fread(s.text, 1, s.size, file);
    fclose(file);
    memset(s.text + s.size, 0, 2);
    s.plain = tidy_grow(NULL, s.size + 2, 1);
    s.code = tidy_grow(NULL, s.size + 2, 1);
    memcpy(s.plain, s.text, s.size + 2);
    memcpy(s.code, s.text, s.size + 2);
    s.in_src = tidy_starts_with(path, "src/");
    s.in_include = tidy_starts_with(path, "include/");
    strip(&s);
    split_lines(&s);
    list->files = tidy_grow(list->files, list->count + 1, sizeof *list->files);
    list->files[list->count++] = s;
}

/* Reads the C files below ROOT/PATH in a fixed order. The fixtures are no part of the tree. */
void tidy_read_tree(struct source_list *list, const char *root, const char *path)
{
    char full[8192];
    snprintf(full, sizeof full, "%s/%s", root, path);
    struct dirent **entries;
    int count = scandir(full, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        char below[4096];
        snprintf(below, sizeof below, "%s/%s", path, name);
        snprintf(full, sizeof full, "%s/%s", root, below);
        struct stat status;
        if (name[0] != '.' && stat(full, &status) == 0 && strcmp(below, "tests/tidy") != 0) {
            if (S_ISDIR(status.st_mode))
                tidy_read_tree(list, root, below);
            else if (tidy_ends_with(name, ".c") || tidy_ends_with(name, ".h"))
                read_source(list, root, below);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

bool tidy_line_says(const struct source *s, size_t line, const char *phrase)
{
    size_t from, to;
    tidy_line_range(s, line, &from, &to);
    return memmem(s->text + from, to - from, phrase, strlen(phrase)) != NULL;
}

/* ---- Words -------------------------------------------------------------------------------------- */

bool tidy_is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Finds the next identifier in `text` (one of the copies) at or after *offset, and moves it on. */
bool tidy_next_word(const struct source *s, const char *text, size_t *offset, struct word *w)
{
    size_t i = *offset;
    while (i < s->size && !tidy_is_word_char(text[i])) i++;
    if (i >= s->size) return false;
    size_t end = i;
    while (end < s->size && tidy_is_word_char(text[end])) end++;
    *w = (struct word){.at = text + i, .offset = i, .length = end - i};
    size_t before = i, after = end;
    while (before > 0 && isspace((unsigned char)text[before - 1])) before--;
    while (after < s->size && isspace((unsigned char)text[after])) after++;
    w->before = before > 0 ? text[before - 1] : 0;
    w->after = after < s->size ? text[after] : 0;
    w->member = w->before == '.' || (before > 1 && text[before - 2] == '-' && w->before == '>');
    *offset = end;
    return true;
}

bool tidy_word_is(const struct word *w, const char *name)
{
    return strlen(name) == w->length && strncmp(w->at, name, w->length) == 0;
}

bool tidy_word_starts(const struct word *w, const char *start)
{
    return w->length >= strlen(start) && strncmp(w->at, start, strlen(start)) == 0;
}

bool tidy_word_ends(const struct word *w, const char *end)
{
    size_t n = strlen(end);
    return w->length >= n && strncmp(w->at + w->length - n, end, n) == 0;
}

bool tidy_word_is_call(const struct word *w)
{
    return w->after == '(' && !w->member;
}
