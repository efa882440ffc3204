/* out.c — writing to stdout: remembered errors, colours, numbers for people, ASCII where it is needed. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192, TEXT_WIDTH = 96 };

static void remember(cli *c)
{
    if (c->write_error == 0) {
        c->write_error = errno ? errno : EIO;
    }
}

static void put_bytes(cli *c, const char *bytes, size_t size)
{
    if (c->write_error == 0 && size > 0 && fwrite(bytes, 1, size, stdout) != size) {
        remember(c);
    }
}

/* What stands in for a character where the terminal has ASCII only. */
static const char *ascii_for(const char *utf8, size_t size)
{
    static const struct {
        const char *from, *to;
    } table[] = {
        {"│", "|"}, {"┃", "|"}, {"─", "-"}, {"━", "="}, {"┄", "."}, {"┼", "|"}, {"┿", "|"},
        {"├", "|"}, {"┤", "|"}, {"┣", "#"}, {"┫", "#"}, {"╰", "`"}, {"╯", "'"}, {"╮", "."},
        {"╭", "."}, {"┗", "#"}, {"┛", "#"}, {"┓", "#"}, {"┏", "#"}, {"▶", ">"}, {"◀", "<"},
        {"●", "*"}, {"✗", "X"}, {"✓", "+"}, {"…", "~"}, {"→", ">"}, {"·", "."},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].from) == size && memcmp(table[i].from, utf8, size) == 0) {
            return table[i].to;
        }
    }
    return "?";
}

void out_text(cli *c, const char *text)
{
    if (c->utf8) {
        put_bytes(c, text, strlen(text));
        return;
    }
    while (*text) {
        size_t plain = 0, wide = 1;
        while (text[plain] && !((unsigned char)text[plain] & 0x80)) {
            plain++;
        }
        put_bytes(c, text, plain);
        text += plain;
        if (*text) {
            while (((unsigned char)text[wide] & 0xc0) == 0x80) {
                wide++;
            }
            put_bytes(c, ascii_for(text, wide), 1);
            text += wide;
        }
    }
}

/* Size of a colour at the start of the text ("\033[1;31m"), or 0. */
static size_t colour_size(const char *text)
{
    size_t size = 2;
    if (text[0] != '\033' || text[1] != '[') {
        return 0;
    }
    while ((text[size] >= '0' && text[size] <= '9') || text[size] == ';') {
        size++;
    }
    return text[size] == 'm' ? size + 1 : 0;
}

void make_harmless(char *text)
{
    while (*text) {
        size_t colour = colour_size(text);
        if (colour == 0 && *text != '\n' && ((unsigned char)*text < 0x20 || *text == 0x7f)) {
            *text = '?';
        }
        text += colour ? colour : 1;
    }
}

void out(cli *c, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    make_harmless(line);
    va_end(args);
    out_text(c, line);
}

/* How many bytes of a line fit into `room`, breaking between words where that is possible. */
static size_t line_size(const char *text, size_t room)
{
    size_t size = strcspn(text, "\n"), at = room;
    if (size <= room) {
        return size;
    }
    while (at > 0 && text[at] != ' ') {
        at--;
    }
    return at ? at : room;
}

void out_wrapped(cli *c, uint32_t column, uint32_t indent, const char *text)
{
    size_t size = line_size(text, column < TEXT_WIDTH ? TEXT_WIDTH - column : 1);
    out(c, "%.*s\n", (int)size, text);
    text += size + (text[size] == ' ');
    if (*text) {
        out_paragraph(c, indent, text);
    }
}

/* One or more paragraphs ("\n" between them), wrapped between words. */
void out_paragraph(cli *c, uint32_t indent, const char *text)
{
    while (*text) {
        size_t size = line_size(text, TEXT_WIDTH - indent);
        out(c, "%*s%.*s\n", size ? (int)indent : 0, "", (int)size, text);
        text += size;
        text += *text == ' ' || *text == '\n';
    }
}

void out_flush(cli *c)
{
    if (c->write_error == 0 && fflush(stdout) != 0) {
        remember(c);
    }
}

int out_close(cli *c, int status)
{
    out_flush(c);
    /* Some file systems report errors when a file is closed. A copy is: a program may still need its stdout. */
    if (c->write_error == 0 && (ferror(stdout) || close(dup(STDOUT_FILENO)) != 0)) {
        remember(c);
    }
    if (c->write_error == 0 || c->write_error == EPIPE) {
        return status;
    }
    complain(c, "cannot write to standard output: %s", strerror(c->write_error));
    return EXIT_RUNTIME;
}

const char *style(const cli *c, enum style s)
{
    static const char *const on[] = {
        [STYLE_OFF] = "\033[0m",    [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",
        [STYLE_BAD] = "\033[1;31m", [STYLE_GOOD] = "\033[1;32m", [STYLE_MARK] = "\033[1;33m"};
    return c->colour ? on[s] : "";
}

const char *number(uint64_t n)
{
    static char texts[8][32];
    static unsigned turn;
    char *text = texts[turn++ % 8], digits[24];
    int count = snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0) {
            text[used++] = ',';
        }
        text[used++] = digits[i];
    }
    text[used] = 0;
    return text;
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- Commands to type ------------------------------------------------------------------------------ */

void command_text(const cli *c, const char *name, const char *file, char *text, size_t size)
{
    bool given = *c->program != 0;
    snprintf(text, size, "%s %s %s%s%s", shell_word(c->self), name, shell_word(file),
             given ? " -- " : "", given ? shell_word(c->program) : "");
}

/* The size of the verb that follows, of those that programs with machines have; 0: there is none. */
static size_t verb_size(const char *text, bool *takes_machine)
{
    static const char *const verbs[] = {"list",   "run",  "explore", "replay",
                                        "shrink", "show", "corpus"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t size = strlen(verbs[i]);
        if (strncmp(text, verbs[i], size) == 0 && strchr(" '`", text[size])) {
            *takes_machine = i < 3;
            return size;
        }
    }
    return 0;
}

void translate(const cli *c, const char *text, char *to, size_t size)
{
    static const char raddle[] = "raddle ";
    const char *begin = text;
    size_t used = 0;
    while (*text && used + 1 < size) {
        bool takes_machine = false, may = text == begin || strchr(" '`", text[-1]);
        size_t length = may && strncmp(text, raddle, sizeof raddle - 1) == 0
                            ? verb_size(text + sizeof raddle - 1, &takes_machine)
                            : 0;
        if (length == 0) {
            to[used++] = *text++;
            continue;
        }
        bool given = takes_machine && *c->program;
        text += sizeof raddle - 1;
        used += (size_t)snprintf(to + used, size - used, "%s %.*s%s%s", c->self, (int)length, text,
                                 given ? " " : "", given ? c->program : "");
        text += length;
    }
    to[used < size ? used : size - 1] = 0;
}

const char *shell_word(const char *word)
{
    static char texts[4][4200];
    static unsigned turn;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%";
    if (*word && word[strspn(word, plain)] == 0) {
        return word;
    }
    char *text = texts[turn++ % 4];
    size_t used = 0, room = sizeof texts[0] - 8;
    text[used++] = '\'';
    for (; *word && used < room; word++) {
        if (*word == '\'') {
            memcpy(text + used, "'\\''", 4);
            used += 4;
        } else {
            text[used++] = *word;
        }
    }
    text[used++] = '\'';
    text[used] = 0;
    return text;
}
