#include "view/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where `word` occurs in `text` as a whole word, or NULL. */
static const char *find_word(const char *text, const char *word, size_t size)
{
    for (const char *at = text; size > 0 && (at = strstr(at, word)) != NULL; at++) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        bool ends = !isalnum((unsigned char)at[size]);
        if (begins && ends) return at;
    }
    return NULL;
}

/* "fork 3" is the role "fork" and a number: the size of the role, or of the whole when there is none. */
static size_t role_size(const char *name)
{
    size_t size = strlen(name), end = size;
    while (end > 0 && isdigit((unsigned char)name[end - 1])) end--;
    return end < size && end > 1 && name[end - 1] == ' ' ? end - 1 : size;
}

/* A name of one or two letters is part of many words; a longer one is not there by chance. */
static bool mentions(const char *text, const char *name)
{
    size_t size = strlen(name);
    return find_word(text, name, size) != NULL || (size > 2 && strstr(text, name) != NULL);
}

/* How many words a label has. */
static uint32_t count_words(const char *text)
{
    uint32_t count = 1;
    for (; *text; text++) count += *text == ' ';
    return count;
}

/* The label, with the object worked in: "take fork" and "fork 3" give "take fork 3"; "lock" and "m"
 * give "lock m"; "take the lock" and "lock a" give "take the lock a"; "read b" and "b" stay. */
static size_t put_label(char *words, const char *label, const char *object)
{
    char role[48];
    size_t size = role_size(object), length = strlen(label), first = strcspn(object, " ");
    snprintf(role, sizeof role, "%.*s", (int)size, object);
    if (strcmp(object, "-") == 0 || object[0] == 0 || mentions(label, object))
        return (size_t)snprintf(words, RAD_WORDS_MAX, "%.120s", label);
    const char *at = find_word(label, role, size);
    if (at != NULL && at - label < 100) {
        size_t before = (size_t)(at - label) + size;
        return (size_t)snprintf(words, RAD_WORDS_MAX, "%.*s%s%.60s", (int)before, label, object + size, label + before);
    }
    bool repeats = length >= first && strncmp(label + length - first, object, first) == 0;
    if (repeats && object[first] == ' ' && length < 120)
        return (size_t)snprintf(words, RAD_WORDS_MAX, "%s%s", label, object + first);
    const char *join = count_words(label) > 2 ? ": " : " ";
    return (size_t)snprintf(words, RAD_WORDS_MAX, "%.120s%s%s", label, join, object);
}

/* "worker: read total" → "read total" when it is a worker who does it. */
static const char *without_role(const char *label, const char *actor)
{
    size_t size = role_size(actor);
    bool own = size > 0 && strncmp(label, actor, size) == 0 && label[size] == ':';
    return own && label[size + 1] == ' ' && label[size + 2] ? label + size + 2 : label;
}

void rad__line_words(const rad_line *line, const char *actor, char words[RAD_WORDS_MAX])
{
    static const char *const verbs[] = {[RAD_LOCAL] = "step", [RAD_READ] = "read", [RAD_WRITE] = "write"};
    const char *label = line->site && line->site[0] ? line->site : line->kind;
    if (line->words[0]) {
        snprintf(words, RAD_WORDS_MAX, "%s", line->words);
        return;
    }
    if (label == NULL || label[0] == 0) label = verbs[line->access];
    size_t used = put_label(words, without_role(label, actor), line->object);
    if (line->has_value) {
        bool negative = line->value > (uint64_t)INT64_MAX;
        used += (size_t)snprintf(words + used, RAD_WORDS_MAX - used, negative ? " = -%" PRIu64 : " = %" PRIu64,
                                 negative ? -line->value : line->value);
    }
    if (line->note[0]) snprintf(words + used, RAD_WORDS_MAX - used, " (%s)", line->note);
}

void rad__place_text(const rad_source_place *at, char text[RAD_PLACE_MAX])
{
    const char *slash = strrchr(at->file, '/');
    snprintf(text, RAD_PLACE_MAX, "%.48s:%" PRIu32, slash ? slash + 1 : at->file, at->line);
}
