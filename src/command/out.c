/* out.c — writing to people: stdout with remembered errors, stderr, colours, ASCII where it is needed.
 *
 * Everything passes the gate of base/readable.h on its way. Colours are ours: they are known by where they lie, so
 * that no text from elsewhere can pass for one. */
#include "cli.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_WIDTH = 96, TEXT_WIDTH_LEAST = 60 };

static const char STYLES[][8] = {[STYLE_OFF] = "\033[0m",    [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",
                                 [STYLE_BAD] = "\033[1;31m", [STYLE_GOOD] = "\033[1;32m", [STYLE_MARK] = "\033[1;33m"};
enum { STYLE_COUNT = sizeof STYLES / sizeof *STYLES };

const char *style(const cli *c, enum style s)
{
    return c->colour ? STYLES[s] : "";
}

static bool is_style(const char *text)
{
    for (size_t i = 0; i < STYLE_COUNT; i++)
        if (text == STYLES[i]) return true;
    return false;
}

/* ---- stdout ---------------------------------------------------------------------------------------- */

static void remember(cli *c)
{
    if (c->write_error == 0) c->write_error = errno ? errno : EIO;
}

static void put_bytes(cli *c, const char *bytes, size_t size)
{
    if (c->capture) {
        rad__bytes_put(c->capture, bytes, size);
        return;
    }
    if (c->write_error == 0 && size > 0 && fwrite(bytes, 1, size, stdout) != size) remember(c);
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
        {"●", "*"}, {"○", "o"}, {"✗", "X"}, {"✓", "+"}, {"…", "~"}, {"→", ">"}, {"·", "."},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].from) == size && memcmp(table[i].from, utf8, size) == 0) return table[i].to;
    return "?";
}

/* Text that has passed the gate. */
static void put_shown(cli *c, const char *text, size_t size)
{
    size_t at = 0;
    if (c->utf8) {
        put_bytes(c, text, size);
        return;
    }
    while (at < size) {
        size_t plain = at, end;
        while (plain < size && !((unsigned char)text[plain] & 0x80)) plain++;
        put_bytes(c, text + at, plain - at);
        if (plain == size) return;
        end = plain + 1;
        while (end < size && ((unsigned char)text[end] & 0xc0) == 0x80) end++;
        put_bytes(c, ascii_for(text + plain, end - plain), 1);
        at = end;
    }
}

typedef struct out_sink {
    rad_sink sink;
    cli *c;
} out_sink;

static void out_sink_put(rad_sink *sink, const char *text, size_t size)
{
    put_shown(((out_sink *)sink)->c, text, size);
}

static out_sink sink_of(cli *c)
{
    return (out_sink){.sink = {out_sink_put, is_style}, .c = c};
}

void out_text(cli *c, const char *text)
{
    out_sink to = sink_of(c);
    rad__readable_put(&to.sink, text, strlen(text), RAD_READABLE_LINES);
}

void out_drawn(cli *c, const char *text)
{
    put_shown(c, text, strlen(text));
}

void out_raw(cli *c, const char *bytes, size_t size)
{
    put_bytes(c, bytes, size);
}

void out(cli *c, const char *format, ...)
{
    out_sink to = sink_of(c);
    va_list args;
    va_start(args, format);
    rad__readable_format(&to.sink, format, args);
    va_end(args);
}

/* ---- stderr ---------------------------------------------------------------------------------------- */

/* Collected, so that a message is one write: those of several processes do not mix. */
typedef struct note_sink {
    rad_sink sink;
    char text[4096];
    size_t used;
} note_sink;

static void note_flush(note_sink *s)
{
    (void)!fwrite(s->text, 1, s->used, stderr);
    fflush(stderr);
    s->used = 0;
}

static void note_put(rad_sink *sink, const char *text, size_t size)
{
    note_sink *s = (note_sink *)sink;
    while (size > 0) {
        size_t room = sizeof s->text - s->used, part = size < room ? size : room;
        memcpy(s->text + s->used, text, part);
        s->used += part;
        text += part;
        size -= part;
        if (s->used == sizeof s->text) note_flush(s);
    }
}

void note(const char *format, ...)
{
    note_sink to = {.sink = {.put = note_put}};
    va_list args;
    va_start(args, format);
    rad__readable_format(&to.sink, format, args);
    va_end(args);
    note_flush(&to);
}

void note_text(const char *before, const char *text, const char *after)
{
    note_sink to = {.sink = {.put = note_put}};
    rad__readable_put(&to.sink, before, strlen(before), RAD_READABLE_LINES);
    rad__readable_put(&to.sink, text, strlen(text), RAD_READABLE_LINES);
    rad__readable_put(&to.sink, after, strlen(after), RAD_READABLE_LINES);
    note_flush(&to);
}

/* ---- Paragraphs ------------------------------------------------------------------------------------ */

/* How many bytes of a line fit into `room`, breaking between words where that is possible. */
static size_t line_size(const char *text, size_t room)
{
    size_t size = strcspn(text, "\n"), at = room;
    if (size <= room) return size;
    while (at > 0 && text[at] != ' ') at--;
    for (; at == 0 && room > 1 && ((unsigned char)text[room] & 0xc0) == 0x80;)
        room--; /* a line does not end inside a character */
    return at ? at : room;
}

/* A narrow terminal gets narrow paragraphs. */
static uint32_t text_width(const cli *c)
{
    uint32_t width = c->terminal && c->width <= TEXT_WIDTH ? c->width - 1 : TEXT_WIDTH;
    return width > TEXT_WIDTH_LEAST ? width : TEXT_WIDTH_LEAST;
}

void out_wrapped(cli *c, uint32_t column, uint32_t indent, const char *text)
{
    size_t size = line_size(text, column < text_width(c) ? text_width(c) - column : 1);
    out(c, "%.*s\n", (int)size, text);
    text += size + (text[size] == ' ');
    if (*text) out_paragraph(c, indent, text);
}

void out_long(cli *c, uint32_t column, uint32_t indent, const char *text)
{
    if (c->terminal)
        out_wrapped(c, column, indent, text);
    else
        out(c, "%s\n", text);
}

/* One or more paragraphs ("\n" between them), wrapped between words. */
void out_paragraph(cli *c, uint32_t indent, const char *text)
{
    while (*text) {
        size_t size = line_size(text, text_width(c) - indent);
        out(c, "%*s%.*s\n", size ? (int)indent : 0, "", (int)size, text);
        text += size;
        text += *text == ' ' || *text == '\n';
    }
}

void out_flush(cli *c)
{
    if (c->write_error == 0 && fflush(stdout) != 0) remember(c);
}

int out_close(cli *c, int status)
{
    out_flush(c);
    /* Some file systems report errors when a file is closed. A copy is: a program may still need its stdout. */
    if (c->write_error == 0 && (ferror(stdout) || close(dup(STDOUT_FILENO)) != 0)) remember(c);
    if (c->write_error == EINTR && *c->stop) { /* somebody wants us to stop, and nobody reads */
        close(STDOUT_FILENO);                  /* or exit would wait, too, to write what is left */
        return EXIT_INTERRUPTED;
    }
    if (c->write_error == 0 || c->write_error == EPIPE) return status;
    complain(c, "cannot write to standard output: %s", strerror(c->write_error));
    return status == EXIT_INTERRUPTED ? status : EXIT_RUNTIME; /* the terminal may have gone */
}

const char *number(uint64_t n)
{
    static char texts[8][32];
    static unsigned turn;
    return rad__readable_count(n, texts[turn++ % 8]);
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- Commands to type ------------------------------------------------------------------------------ */

void command_text(const cli *c, const char *name, const char *file, char *text, size_t size)
{
    bool given = *c->program != 0;
    snprintf(text, size, "%s %s %s%s%s%s", shell_word(c->self), name, shell_word(file), given ? " -- " : "",
             given ? shell_word(c->program) : "", given && c->program_words ? c->program_words : "");
}

/* The size of the verb that follows, of those that programs with machines have; 0: there is none. */
static size_t verb_size(const char *text, bool *takes_machine)
{
    static const char *const verbs[] = {"list", "run", "explore", "replay", "shrink", "show", "corpus"};
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
        used += (size_t)snprintf(to + used, size - used, "%s %.*s%s%s", c->self, (int)length, text, given ? " " : "",
                                 given ? c->program : "");
        text += length;
    }
    to[used < size ? used : size - 1] = 0;
}

static bool is_shown_as_it_is(const char *word)
{
    char shown[RAD_CHARACTER_MAX];
    size_t size, length;
    for (size_t left = strlen(word); left > 0; word += length, left -= length) {
        length = rad__readable_character(word, left, RAD_READABLE_NAME, shown, &size);
        if (size != length || memcmp(shown, word, size) != 0) return false;
    }
    return true;
}

/* For a word with characters that cannot be shown: $'…', with those as bytes. */
static void quote_bytes(rad_sink_buffer *to, const char *word)
{
    char shown[RAD_CHARACTER_MAX];
    size_t size, length;
    to->sink.put(&to->sink, "$'", 2);
    for (size_t left = strlen(word); left > 0; word += length, left -= length) {
        length = rad__readable_character(word, left, RAD_READABLE_NAME, shown, &size);
        bool same = size == length && memcmp(shown, word, size) == 0;
        if (*word == '\'' || *word == '\\') to->sink.put(&to->sink, "\\", 1);
        for (size_t i = 0; i < length && !same; i++) {
            snprintf(shown, sizeof shown, "\\x%02x", (unsigned char)word[i]);
            to->sink.put(&to->sink, shown, 4);
        }
        if (same) to->sink.put(&to->sink, word, length);
    }
}

static void quote(rad_sink_buffer *to, const char *word)
{
    to->sink.put(&to->sink, "'", 1);
    for (; *word; word++) {
        bool tick = *word == '\'';
        to->sink.put(&to->sink, tick ? "'\\''" : word, tick ? 4 : 1);
    }
}

const char *shell_word(const char *word)
{
    static char texts[4][4200];
    static unsigned turn;
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./=:,+@%";
    if (*word && word[strspn(word, plain)] == 0) return word;
    char *text = texts[turn++ % 4];
    rad_sink_buffer to = rad__sink_buffer(text, sizeof texts[0] - 1);
    if (is_shown_as_it_is(word))
        quote(&to, word);
    else
        quote_bytes(&to, word);
    memcpy(text + to.used, "'", 2);
    return text;
}
