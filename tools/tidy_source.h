/* tidy_source.h — the C files of a tree, as tidy's rules look at them.
 *
 * Each file is read once and kept in three copies of equal length, so that an offset means the same in
 * all of them: the text, the text without comments (`plain`), and that without the contents of string
 * and character literals (`code`). */
#ifndef RAD_TIDY_SOURCE_H
#define RAD_TIDY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct source {
    char *path; /* from the root: "src/core/kernel.c" */
    bool in_src;
    bool in_include;
    char *text, *plain, *code;
    size_t size;
    size_t *line_at; /* line_at[i]: offset of line i + 1; line_at[line_count] == size */
    size_t line_count;
    int layer; /* for the rules */
};

struct source_list {
    struct source *files;
    size_t count;
};

/* Appends the C files below ROOT/PATH in a fixed order. Ends the program when one cannot be read. */
void tidy_read_tree(struct source_list *list, const char *root, const char *path);

/* The line, from 1, that holds the offset. */
size_t tidy_line_of(const struct source *s, size_t offset);

/* The part [*from, *to) of a line, without its newline. */
void tidy_line_range(const struct source *s, size_t line, size_t *from, size_t *to);

/* Does the text of the line, comments included, contain the phrase? */
bool tidy_line_says(const struct source *s, size_t line, const char *phrase);

struct word {
    const char *at;
    size_t offset, length;
    char before; /* the nearest characters around it that are no spaces, 0 at the ends */
    char after;
    bool member; /* follows . or -> */
};

/* Finds the next identifier in `text` (one of the copies) at or after *offset, and moves it on. */
bool tidy_next_word(const struct source *s, const char *text, size_t *offset, struct word *w);
bool tidy_word_is(const struct word *w, const char *name);
bool tidy_word_starts(const struct word *w, const char *start);
bool tidy_word_ends(const struct word *w, const char *end);
bool tidy_word_is_call(const struct word *w);

bool tidy_is_word_char(char c);
bool tidy_starts_with(const char *text, const char *start);
bool tidy_ends_with(const char *text, const char *end);
void *tidy_grow(void *block, size_t count, size_t size); /* realloc that does not fail */

#endif
