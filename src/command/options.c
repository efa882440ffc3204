#include "options.h"

#include "base/readable.h"
#include "os/signal.h"

#include <stdio.h>
#include <string.h>

bool read_count(const char *text, uint64_t max, uint64_t *value)
{
    uint64_t n = 0;
    if (*text == 0) return false;
    for (; *text; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (*text < '0' || *text > '9' || n > (max - digit) / 10 || digit > max) return false;
        n = n * 10 + digit;
    }
    *value = n;
    return n <= max;
}

/* "90", "0.5": no sign, no exponent, at most nine digits before the point and six after it. */
static bool read_decimal(const char *text, double *value)
{
    char whole[12], part[8] = "0";
    const char *point = strchr(text, '.');
    size_t size = point ? (size_t)(point - text) : strlen(text);
    uint64_t before, after = 0;
    double scale = 1;
    if (size == 0 || size > 9 || (point && (strlen(point) < 2 || strlen(point) > 7))) return false;
    snprintf(whole, sizeof whole, "%.*s", (int)size, text);
    if (point) snprintf(part, sizeof part, "%s", point + 1);
    if (!read_count(whole, 999999999, &before) || !read_count(part, 999999, &after)) return false;
    for (size_t i = 0; point && i < strlen(part); i++) scale *= 10;
    *value = (double)before + (double)after / scale;
    return true;
}

static const option *find_option(const verb *v, const char *name, size_t size)
{
    for (const option *o = v->options; o && o->name; o++)
        if (strlen(o->name) == size && strncmp(o->name, name, size) == 0) return o;
    return NULL;
}

static const option *find_letter(const verb *v, char letter)
{
    for (const option *o = v->options; o && o->name; o++)
        if (o->letter && o->letter == letter) return o;
    return NULL;
}

static int unknown_option(cli *c, const verb *v, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    rad_suggest n;
    rad__suggest_begin(&n, name, strlen(name));
    rad__suggest_consider(&n, "help");
    for (const option *o = v->options; o && o->name; o++)
        if (o->about) rad__suggest_consider(&n, o->name);
    return bad_usage(c, "unknown option '%.80s'%s", word, rad__suggest_text(&n, "--"));
}

static int add_text(cli *c, const option *o, text_list *list, const char *text)
{
    if (list->count == OPTION_TEXTS_MOST)
        return bad_usage(c, "--%s: given more than %d times", o->name, OPTION_TEXTS_MOST);
    list->items[list->count++] = text;
    return GO_ON;
}

/* The value names a file or a directory, and an empty one names none. */
static bool is_path(const option *o)
{
    return o->value &&
           (strcmp(o->value, "DIR") == 0 || strncmp(o->value, "FILE", 4) == 0 || strcmp(o->value, "PATH") == 0);
}

static int set_value(cli *c, const option *o, const char *text, void *into)
{
    if (text && *text == 0 && is_path(o)) return bad_usage(c, "--%s '': the name (%s) is empty", o->name, o->value);
    char *at = (char *)into + o->at;
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)at = true; return GO_ON;
    case OPTION_TEXT: *(const char **)at = text; return GO_ON;
    case OPTION_TEXTS: return add_text(c, o, (text_list *)at, text);
    case OPTION_SECONDS:
        if (read_decimal(text, (double *)at) && *(double *)at > 0) return GO_ON;
        return bad_usage(c, "--%s '%.80s': use seconds, such as 60 or 0.5", o->name, text);
    case OPTION_PERCENT:
        if (read_decimal(text, (double *)at)) return GO_ON;
        return bad_usage(c, "--%s '%.80s': use percent, such as 5 or 0.5", o->name, text);
    case OPTION_COUNT: break;
    }
    uint64_t value;
    if (!read_count(text, o->max, &value) || value < o->min) {
        return bad_usage(c, "--%s '%.80s': use a whole number from %llu to %llu", o->name, text,
                         (unsigned long long)o->min, (unsigned long long)o->max);
    }
    *(uint64_t *)at = value;
    return GO_ON;
}

typedef struct parser {
    cli *c;
    const verb *v;
    char **argv;
    int argc, next;
    void *into;
} parser;

/* One option: `o` as written in `word`, its value attached (`attached`) or in the next word. */
static int take_option(parser *p, const option *o, const char *word, const char *attached)
{
    if (o->kind == OPTION_FLAG) {
        if (attached) return bad_usage(p->c, "--%s takes no value: '%.80s'", o->name, word);
        return set_value(p->c, o, NULL, p->into);
    }
    if (attached == NULL && p->next >= p->argc) return bad_usage(p->c, "%.80s needs a value (%s)", word, o->value);
    return set_value(p->c, o, attached ? attached : p->argv[p->next++], p->into);
}

static int take_word(parser *p, const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        verb_help(p->c, p->v);
        return EXIT_FINE;
    }
    if (word[1] == '-') {
        size_t size = strcspn(word + 2, "=");
        const option *o = find_option(p->v, word + 2, size);
        return o ? take_option(p, o, word, word[2 + size] ? word + 3 + size : NULL) : unknown_option(p->c, p->v, word);
    }
    const option *o = find_letter(p->v, word[1]);
    if (o == NULL) return bad_usage(p->c, "unknown option '%.80s'", word);
    return take_option(p, o, word, word[2] ? word + 2 : NULL);
}

int options_parse(cli *c, const verb *v, int argc, char **argv, void *into, words *w)
{
    parser p = {c, v, argv, argc, 0, into};
    bool only_words = false;
    *w = (words){argv, 0};
    while (p.next < argc) {
        char *word = argv[p.next++];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (only_words || word[0] != '-' || word[1] == 0) {
            w->at[w->count++] = word;
        } else {
            int status = take_word(&p, word);
            if (status != GO_ON) return status;
        }
    }
    return GO_ON;
}

void ends_at_once(const cli *c, const verb *v)
{
    static char last_words[1200];
    rad__readable_text(last_words, sizeof last_words, "%s %s: interrupted\n", c->self, v->name);
    rad__os_signals_end_at_once(last_words);
}

int options_word(const verb *v, int argc, char **argv)
{
    int i = 0;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *word = argv[i];
        bool is_long = word[1] == '-';
        size_t size = strcspn(word, "=");
        const option *o = is_long ? find_option(v, word + 2, size - 2) : find_letter(v, word[1]);
        if (o == NULL) return argc; /* a mistake, which options_parse names, or --help, or -- */
        bool attached = is_long ? word[size] != 0 : word[2] != 0;
        i += o->kind != OPTION_FLAG && !attached;
    }
    return i < argc ? i : argc;
}

/* ---- Help ------------------------------------------------------------------------------------------ */

enum { HELP_COLUMN = 24 };

/* "  head    about", the second from HELP_COLUMN on; a head that is too long stands alone. */
static void help_row(cli *c, const char *head, const char *about)
{
    char text[512];
    translate(c, about, text, sizeof text);
    if (strlen(head) + 4 > HELP_COLUMN)
        out(c, "  %s\n%*s", head, HELP_COLUMN, "");
    else
        out(c, "  %-*s", HELP_COLUMN - 2, head);
    out_wrapped(c, HELP_COLUMN, HELP_COLUMN, text);
}

static void help_option(cli *c, const option *o)
{
    char head[64];
    int used = o->letter ? snprintf(head, sizeof head, "-%c, ", o->letter) : 0;
    used += snprintf(head + used, sizeof head - (size_t)used, "--%s", o->name);
    if (o->value) snprintf(head + used, sizeof head - (size_t)used, " %s", o->value);
    help_row(c, head, o->about);
}

/* A line for each form of a command; returns what begins the next one. */
static const char *help_usage(cli *c, const verb *v, const char *label)
{
    for (const char *at = v->usage; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char form[200];
        snprintf(form, sizeof form, "%.*s", (int)strcspn(at, "\n"), at);
        out(c, "%s%s %s %s\n", label, c->self, v->name, form);
        label = "       ";
    }
    for (size_t i = 0; i < v->part_count; i++) label = help_usage(c, v->parts[i], label);
    return label;
}

void verb_help(cli *c, const verb *v)
{
    char text[4096];
    help_usage(c, v, "Usage: ");
    out_text(c, "\n");
    translate(c, v->text, text, sizeof text);
    out_paragraph(c, 0, text);
    out_text(c, v->part_count ? "\nCommands\n" : "\nOptions\n");
    for (size_t i = 0; i < v->part_count; i++) help_row(c, strchr(v->parts[i]->name, ' ') + 1, v->parts[i]->about);
    for (const option *o = v->options; o && o->name; o++)
        if (o->about) help_option(c, o);
    help_row(c, "--help", "print this text");
    out_text(c, "\n");
    snprintf(text, sizeof text, "Exit status: %s", v->status);
    out_paragraph(c, 0, text);
    out_text(c, "\nExamples\n");
    for (const char *const *e = v->examples; *e; e += 2) {
        translate(c, e[0], text, sizeof text);
        out(c, "  %s\n      %s\n", text, e[1]);
    }
}
