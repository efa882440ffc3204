/* tidy.c — checks the rules of this tree that no compiler knows.
 *
 *     tidy ROOT              prints file:line: rule: what to do instead; exits 1 when it found anything
 *     tidy --tap ROOT        the same as TAP, one test per rule
 *     tidy --fixtures DIR    proves the rules: DIR is a small tree like ours whose wrong lines carry a
 *                            comment "expect: RULE"; found and expected have to be the same
 *
 * Rules are functions over one file (tidy_source.h says how they see it); RULES below names them all. */
#define _GNU_SOURCE
#include "tidy_source.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_LINES_MAX = 800, FUNCTION_LINES_MAX = 70, LINE_COLUMNS_MAX = 120, PAIRS_WITH_REACH = 3 };

/* ---- The layers --------------------------------------------------------------------------------- */

enum layer { BASE, OS, CORE, EXEC, RT, LAB, SESSION, FLOW, LOAD, VIEW, COMMAND, CLI, LAYER_COUNT, NO_LAYER };

#define BIT(layer) (1u << (layer))
#define EVERYWHERE 0u

static const char *const LAYERS[LAYER_COUNT] = {
    [BASE] = "base",       [OS] = "os",     [CORE] = "core", [EXEC] = "exec", [RT] = "rt",           [LAB] = "lab",
    [SESSION] = "session", [FLOW] = "flow", [LOAD] = "load", [VIEW] = "view", [COMMAND] = "command", [CLI] = "cli",
};

/* The include table of the design: what the files of a folder may include besides the folder's own. A folder without a
 * row has that of the folder around it; a name in a row includes all below it. Public headers are open to all. */
static const struct {
    const char *folder, *may_include;
} FOLDERS[] = {
    {"base", ""},
    {"os", "base"},
    {"core", "base"},
    {"exec", "base"},
    {"exec/thread", "base os exec"},
    {"rt", "base os exec"},
    {"lab", "base os core exec rt session flow load"},
    {"session", ""},
    {"session/lang", "base"},
    {"session/machine", "base session/lang"},
    {"session/run", "base os session/lang session/machine"},
    {"session/wasm", "base session"},
    {"flow", ""},
    {"flow/lang", "base"},
    {"flow/svg", "base flow/lang"},
    {"flow/machine", "base core flow/lang flow/journal"},
    {"flow/check", "base core flow/lang flow/machine"},
    {"flow/journal", "base core flow/lang flow/machine"},
    {"flow/run", "base os core flow"},
    {"load", ""},
    {"load/scenario", "base"},
    {"load/log", "base load/scenario"},
    {"load/scheduler", "base load/scenario load/log"},
    {"load/replay", "base load/scenario load/log load/scheduler"},
    {"load/report", "base load/scenario load/log load/scheduler load/replay"},
    {"load/live", "base os load/scenario load/log load/scheduler"},
    {"load/serve", "base os load/scenario"},
    {"load/api", "base os load"},
    {"view", "base core"},
    {"command", "base os"},
    {"cli", "command base os"},
};

/* Files of a folder, known by the beginning of their names, that may include a little more. */
static const struct {
    const char *begin, *may_include;
} RUNNERS[] = {
    {"command/program", "lab"},
};

static enum layer layer_by_name(const char *name, size_t length)
{
    for (int i = 0; i < LAYER_COUNT; i++)
        if (strlen(LAYERS[i]) == length && strncmp(LAYERS[i], name, length) == 0) return (enum layer)i;
    return NO_LAYER;
}

/* ---- Findings ----------------------------------------------------------------------------------- */

struct finding {
    const struct source *file;
    size_t line;
    const char *rule;
    char what[256];
};

static struct source_list tree;
static struct finding *findings;
static size_t finding_count;
static const char *current_rule;

__attribute__((format(printf, 3, 4))) static void found(const struct source *file, size_t line, const char *format, ...)
{
    findings = tidy_grow(findings, finding_count + 1, sizeof *findings);
    struct finding *f = &findings[finding_count++];
    *f = (struct finding){.file = file, .line = line, .rule = current_rule};
    va_list args;
    va_start(args, format);
    vsnprintf(f->what, sizeof f->what, format, args);
    va_end(args);
}

/* ---- include: the table of layers --------------------------------------------------------------- */

static const char *const STANDARD_HEADERS[] = {
    "assert.h",  "complex.h", "ctype.h",  "errno.h",  "fenv.h",   "float.h",       "inttypes.h", "iso646.h",
    "limits.h",  "locale.h",  "math.h",   "setjmp.h", "signal.h", "stdalign.h",    "stdarg.h",   "stdatomic.h",
    "stdbool.h", "stddef.h",  "stdint.h", "stdio.h",  "stdlib.h", "stdnoreturn.h", "string.h",   "tgmath.h",
    "threads.h", "time.h",    "uchar.h",  "wchar.h",  "wctype.h",
};

static bool is_standard_header(const char *name)
{
    for (size_t i = 0; i < sizeof STANDARD_HEADERS / sizeof *STANDARD_HEADERS; i++)
        if (strcmp(STANDARD_HEADERS[i], name) == 0) return true;
    return false;
}

static const struct source *build_header_user; /* only one file may include raddle_build.h */

static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

/* Whether `path` is in the folder whose name is the first `size` characters. */
static bool is_below(const char *path, const char *folder, size_t size)
{
    return strncmp(path, folder, size) == 0 && path[size] == '/';
}

static bool names_folder_of(const char *folders, const char *path)
{
    for (const char *p = folders; *p;) {
        size_t size = strcspn(p, " ");
        if (is_below(path, p, size)) return true;
        p += size + (p[size] == ' ');
    }
    return false;
}

/* Both are paths below src. */
static bool may_include(const char *path, const char *other)
{
    size_t row = 0, longest = 0;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        size_t size = strlen(FOLDERS[i].folder);
        if (size > longest && is_below(path, FOLDERS[i].folder, size)) {
            row = i;
            longest = size;
        }
    }
    for (size_t i = 0; i < sizeof RUNNERS / sizeof *RUNNERS; i++)
        if (tidy_starts_with(path, RUNNERS[i].begin) && names_folder_of(RUNNERS[i].may_include, other)) return true;
    return is_below(other, FOLDERS[row].folder, longest) || names_folder_of(FOLDERS[row].may_include, other);
}

static void check_include_in_src(const struct source *s, size_t line, const char *name, char quote)
{
    size_t slash = strcspn(name, "/");
    if (tidy_starts_with(name, "../") || strstr(name, "/../")) {
        found(s, line, "\"%s\": write the path from src/, \"layer/file.h\"", name);
        return;
    }
    if (strcmp(name, "raddle_build.h") == 0) {
        if (build_header_user && build_header_user != s) {
            found(s, line, "%s includes raddle_build.h already; ask it, so that a commit compiles one file",
                  build_header_user->path);
        }
        build_header_user = s;
        return;
    }
    if (name[slash] == 0 || s->layer == NO_LAYER) return; /* beside the file, or a system header */
    enum layer other = layer_by_name(name, slash);
    if (other == NO_LAYER) {
        if (quote == '"') found(s, line, "\"%s\": write the path from src/, \"layer/file.h\"", name);
        return;
    }
    if (!may_include(s->path + strlen("src/"), name)) {
        found(s, line, "%.*s may not include \"%s\"; see the table in tools/tidy.c, or move the code",
              (int)folder_size(s->path + strlen("src/")), s->path + strlen("src/"), name);
    }
}

static void rule_include(const struct source *s)
{
    for (size_t line = 1; line <= s->line_count; line++) {
        size_t from, to;
        tidy_line_range(s, line, &from, &to);
        char text[512], quote, name[256];
        snprintf(text, sizeof text, "%.*s", (int)(to - from), s->plain + from);
        if (sscanf(text, " # include %c%255[^\">]", &quote, name) != 2 || !strchr("\"<", quote)) continue;
        if (strcmp(name, "raddle.h") == 0 || tidy_starts_with(name, "raddle/")) continue;
        if (s->in_include && !is_standard_header(name))
            found(s, line, "public headers include only C's own headers and <raddle/...>, not %s", name);
        else if (s->in_src)
            check_include_in_src(s, line, name, quote);
    }
}

/* ---- length: files, functions, lines ------------------------------------------------------------ */

static size_t columns(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80; /* UTF-8: count the first bytes */
    return count;
}

/* A function's body opens in column 0; `name(...) {` at the end of an unindented line opens one too,
 * so that nothing is gained by leaving the style. */
static bool opens_function(const struct source *s, size_t from, size_t to)
{
    if (s->code[from] == '{') return true;
    while (to > from && isspace((unsigned char)s->code[to - 1])) to--;
    return to - from > 3 && tidy_is_word_char(s->code[from]) && strncmp(s->code + to - 3, ") {", 3) == 0;
}

static void rule_length(const struct source *s)
{
    size_t open = 0;
    for (size_t line = 1; line <= s->line_count; line++) {
        size_t from, to;
        tidy_line_range(s, line, &from, &to);
        if (columns(s->text + from, to - from) > LINE_COLUMNS_MAX)
            found(s, line, "longer than %d columns; break the line", LINE_COLUMNS_MAX);
        if (line == FILE_LINES_MAX + 1) found(s, line, "file longer than %d lines; two ideas in one?", FILE_LINES_MAX);
        if (from == to) continue;
        if (opens_function(s, from, to)) {
            open = line;
        } else if (s->code[from] == '}' && open) {
            if (line - open + 1 > FUNCTION_LINES_MAX) {
                found(s, open, "function of %zu lines, at most %d; give a part of it a name", line - open + 1,
                      FUNCTION_LINES_MAX);
            }
            open = 0;
        }
    }
}

/* ---- layout: what editors leave behind ---------------------------------------------------------- */

static void rule_layout(const struct source *s)
{
    for (size_t line = 1; line <= s->line_count; line++) {
        size_t from, to;
        tidy_line_range(s, line, &from, &to);
        if (memchr(s->text + from, '\t', to - from)) found(s, line, "tab; indent by spaces (make format)");
        if (memchr(s->text + from, '\r', to - from)) found(s, line, "carriage return; end lines with a newline only");
        if (to > from && s->text[to - 1] == ' ') found(s, line, "space at the end of the line (make format)");
    }
    if (s->size > 0 && s->text[s->size - 1] != '\n') found(s, s->line_count, "no newline at the end of the file");
}

/* ---- guard: a header is included once ------------------------------------------------------------ */

/* src/lab/json.h has RAD_LAB_JSON_H, include/raddle/io.h RADDLE_IO_H: two files cannot share a name by accident. */
static void rule_guard(const struct source *s)
{
    if ((!s->in_src && !s->in_include) || !tidy_ends_with(s->path, ".h")) return;
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%s%s", s->in_src ? "RAD_" : "", strchr(s->path, '/') + 1);
    for (char *at = wanted; *at; at++) *at = isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_';
    struct word w;
    for (size_t at = 0; tidy_next_word(s, s->code, &at, &w);) {
        if (!tidy_word_is(&w, "ifndef")) continue;
        size_t line = tidy_line_of(s, w.offset);
        if (!tidy_next_word(s, s->code, &at, &w) || !tidy_word_is(&w, wanted))
            found(s, line, "the include guard of this path is %s", wanted);
        return;
    }
    found(s, 1, "no include guard; it would be %s", wanted);
}

/* ---- call: banned functions, each with what to use instead --------------------------------------- */

#define CLOCK  "read the clock through os, or take the time as an argument"
#define RANDOM "take a PRNG of base as an argument; only os draws from the machine"
#define HEAP   "allocate through base/alloc.h (rad__alloc, rad__grow, rad__copy_text, rad__free)"
#define SORT   "use the stable sort of base: qsort's order of equals is not defined"
#define OUTPUT "write into a buffer or a FILE the caller passes; cli, command and view own stdout"
#define ENDING "return an error; only base, os and cli may end the process"
#define PARSE  "use the checked number readers of base: this cannot report an error"

#define SPEAKERS (BIT(CLI) | BIT(COMMAND) | BIT(VIEW))

/* `allowed` names the layers of src that may call it; EVERYWHERE: banned in the whole tree. */
static const struct {
    const char *name;
    unsigned allowed;
    const char *instead;
} BANNED[] = {
    {"clock_gettime", BIT(OS), CLOCK},
    {"clock", BIT(OS), CLOCK},
    {"time", BIT(OS), CLOCK},
    {"gettimeofday", BIT(OS), CLOCK},
    {"timespec_get", BIT(OS), CLOCK},
    {"rand", BIT(OS), RANDOM},
    {"rand_r", BIT(OS), RANDOM},
    {"random", BIT(OS), RANDOM},
    {"srand", BIT(OS), RANDOM},
    {"srandom", BIT(OS), RANDOM},
    {"drand48", BIT(OS), RANDOM},
    {"getrandom", BIT(OS), RANDOM},
    {"getentropy", BIT(OS), RANDOM},
    {"arc4random", BIT(OS), RANDOM},
    {"getenv", BIT(OS), "read the environment through os, once, and pass the value down"},
    {"secure_getenv", BIT(OS), "read the environment through os, once, and pass the value down"},
    {"pthread_self", BIT(OS), "number threads by their creation; ids differ from run to run"},
    {"gettid", BIT(OS), "number threads by their creation; ids differ from run to run"},
    {"qsort", BIT(BASE), SORT},
    {"qsort_r", BIT(BASE), SORT},
    {"printf", SPEAKERS, OUTPUT},
    {"vprintf", SPEAKERS, OUTPUT},
    {"puts", SPEAKERS, OUTPUT},
    {"putchar", SPEAKERS, OUTPUT},
    {"malloc", BIT(BASE), HEAP},
    {"calloc", BIT(BASE), HEAP},
    {"realloc", BIT(BASE), HEAP},
    {"reallocarray", BIT(BASE), HEAP},
    {"aligned_alloc", BIT(BASE), HEAP},
    {"posix_memalign", BIT(BASE), HEAP},
    {"free", BIT(BASE), HEAP},
    {"strdup", BIT(BASE), HEAP},
    {"strndup", BIT(BASE), HEAP},
    {"asprintf", BIT(BASE), HEAP},
    {"vasprintf", BIT(BASE), HEAP},
    {"abort", BIT(BASE) | BIT(OS) | BIT(CLI), ENDING},
    {"exit", BIT(BASE) | BIT(OS) | BIT(CLI), ENDING},
    {"strcpy", EVERYWHERE, "use snprintf or memcpy with a known size"},
    {"strcat", EVERYWHERE, "use snprintf or memcpy with a known size"},
    {"sprintf", EVERYWHERE, "use snprintf"},
    {"vsprintf", EVERYWHERE, "use vsnprintf"},
    {"gets", EVERYWHERE, "use fgets"},
    {"strtok", EVERYWHERE, "use strcspn and strspn: strtok keeps hidden state"},
    {"atoi", EVERYWHERE, PARSE},
    {"atol", EVERYWHERE, PARSE},
    {"atoll", EVERYWHERE, PARSE},
    {"atof", EVERYWHERE, PARSE},
};

static void rule_call(const struct source *s)
{
    struct word w;
    for (size_t at = 0; tidy_next_word(s, s->code, &at, &w);) {
        unsigned own = s->layer == NO_LAYER ? 0 : BIT(s->layer);
        if (tidy_word_is(&w, "stdout") && s->in_src && !(own & SPEAKERS) &&
            !tidy_line_says(s, tidy_line_of(s, w.offset), "tidy: stdout ok"))
            found(s, tidy_line_of(s, w.offset), "stdout: %s", OUTPUT);
        for (size_t i = 0; tidy_word_is_call(&w) && i < sizeof BANNED / sizeof *BANNED; i++) {
            unsigned allowed = BANNED[i].allowed;
            bool banned = allowed == EVERYWHERE || (s->in_src && !(own & allowed));
            if (banned && tidy_word_is(&w, BANNED[i].name))
                found(s, tidy_line_of(s, w.offset), "%s: %s", BANNED[i].name, BANNED[i].instead);
        }
    }
}

/* ---- word, todo --------------------------------------------------------------------------------- */

/* Production code knows nothing of the lab: the word does not occur there, not even in a comment. */
static void rule_word(const struct source *s)
{
    static const char *const banned[] = {"sim", "simulated", "simulation", "simulator"};
    if (s->layer != EXEC && s->layer != RT) return;
    for (size_t i = 0; i < s->size;) {
        size_t n = 0;
        while (isalnum((unsigned char)s->text[i + n]))
            n++; /* unlike in an identifier, _ separates: sim_clock has the word in it */
        for (size_t k = 0; k < sizeof banned / sizeof *banned; k++)
            if (n == strlen(banned[k]) && strncasecmp(s->text + i, banned[k], n) == 0)
                found(s, tidy_line_of(s, i), "'%s': production code does not refer to the lab", banned[k]);
        i += n ? n : 1;
    }
}

static void rule_todo(const struct source *s)
{
    if (!s->in_src && !s->in_include) return;
    struct word w;
    for (size_t at = 0; tidy_next_word(s, s->text, &at, &w);)
        if (tidy_word_is(&w, "TODO") || tidy_word_is(&w, "FIXME") || tidy_word_is(&w, "XXX"))
            found(s, tidy_line_of(s, w.offset), "%.*s: finish it, or open an issue", (int)w.length, w.at);
}

/* ---- atomic: each ordering names its partner ---------------------------------------------------- */

static bool is_ordered_atomic(const struct word *w)
{
    static const char *const orders[] = {"memory_order_acquire", "memory_order_release", "memory_order_acq_rel",
                                         "memory_order_seq_cst", "memory_order_consume"};
    static const char *const plain[] = {
        "atomic_load", "atomic_store", "atomic_exchange", "atomic_fetch_", "atomic_compare_exchange_", "atomic_flag_"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (tidy_word_is(w, orders[i])) return true;
    if (!tidy_word_is_call(w) || tidy_word_ends(w, "_explicit")) return false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (tidy_word_is(w, plain[i]) || (tidy_ends_with(plain[i], "_") && tidy_word_starts(w, plain[i]))) return true;
    return tidy_word_is(w, "atomic_thread_fence");
}

/* Does the statement before `line` end on the line before it? Then the search for its comment begins
 * at `line`. Comments and blank lines end statements too. */
static bool statement_begins(const struct source *s, size_t line)
{
    size_t from, to;
    if (line <= 1) return true;
    tidy_line_range(s, line - 1, &from, &to);
    while (to > from && isspace((unsigned char)s->code[to - 1])) to--;
    return to == from || strchr(";{}:", s->code[to - 1]) != NULL || s->code[from] == '#';
}

static bool says_pairs_with(const struct source *s, size_t line)
{
    size_t begin = line;
    while (!statement_begins(s, begin)) begin--;
    begin = begin > PAIRS_WITH_REACH ? begin - PAIRS_WITH_REACH : 1;
    static const char phrase[] = "pairs with";
    size_t n = sizeof phrase - 1;
    for (size_t i = s->line_at[begin - 1]; i + n <= s->line_at[line]; i++) {
        bool in_comment = s->plain[i] != s->text[i]; /* blanked there */
        if (in_comment && strncasecmp(s->text + i, phrase, n) == 0) return true;
    }
    return false;
}

static void rule_atomic(const struct source *s)
{
    if ((!s->in_src && !s->in_include) || strstr(s->text, "tidy: builtin atomics ok") != NULL) return;
    size_t last = 0;
    struct word w;
    for (size_t at = 0; tidy_next_word(s, s->code, &at, &w);) {
        size_t line = tidy_line_of(s, w.offset);
        if (tidy_word_starts(&w, "__atomic_") || tidy_word_starts(&w, "__sync_")) {
            found(s, line, "%.*s: use <stdatomic.h>", (int)w.length, w.at);
        } else if (line != last && is_ordered_atomic(&w) && !says_pairs_with(s, line)) {
            found(s, line, "say in a comment what this ordering `pairs with`, or make it relaxed");
            last = line;
        }
    }
}

/* ---- address: order by creation, never by address ------------------------------------------------ */

static void rule_address(const struct source *s)
{
    if (!s->in_src || s->layer == BASE || s->layer == OS) return;
    struct word w;
    for (size_t at = 0; tidy_next_word(s, s->code, &at, &w);) {
        bool cast =
            (tidy_word_is(&w, "uintptr_t") || tidy_word_is(&w, "intptr_t")) && w.before == '(' && w.after == ')';
        size_t line = tidy_line_of(s, w.offset);
        if (cast && !tidy_line_says(s, line, "tidy: address ok")) {
            found(s, line,
                  "address as a number; order and hash by creation number "
                  "(or say /* tidy: address ok */ and why)");
        }
    }
    for (const char *p = s->plain; (p = strstr(p, "%p")); p += 2) {
        size_t line = tidy_line_of(s, (size_t)(p - s->plain));
        if (s->code[p - s->plain] == ' ' && !tidy_line_says(s, line, "tidy: address ok"))
            found(s, line, "%%p prints an address, which differs from run to run; print a number or name");
    }
}

/* ---- gate: text for people passes base/readable.h -------------------------------------------------- */

static const char *const WRITERS[] = {"printf",   "vprintf", "puts",  "putchar", "fprintf",
                                      "vfprintf", "fputs",   "fputc", "putc",    "fwrite"};

/* Calls whose text arguments pass the gate one by one: a newline in one of them is shown, not printed. */
static const struct {
    const char *name;
    unsigned before; /* arguments, up to the format */
} GATED[] = {
    {"out", 1},
    {"note", 0},
    {"complain", 1},
    {"bad_usage", 1},
    {"rad__error", 2},
    {"rad__error_lines", 3},
    {"rad__bytes_format", 1},
    {"rad__readable_text", 2},
    {"rad__readable_print", 1},
};

/* The end of what begins with the bracket at `open`. */
static size_t closing(const struct source *s, size_t open)
{
    int depth = 0;
    size_t at = open;
    do {
        depth += strchr("([{", s->code[at]) != NULL && s->code[at] != 0;
        depth -= strchr(")]}", s->code[at]) != NULL && s->code[at] != 0;
        at++;
    } while (depth > 0 && at < s->size);
    return at;
}

static void check_writer(const struct source *s, const struct word *w, size_t open)
{
    char call[512];
    size_t size = closing(s, open) - open;
    snprintf(call, sizeof call, "%.*s", (int)(size < sizeof call ? size : sizeof call - 1), s->code + open);
    bool plain = tidy_word_is(w, "printf") || tidy_word_is(w, "vprintf") || tidy_word_is(w, "puts") ||
                 tidy_word_is(w, "putchar");
    if (plain || strstr(call, "stdout") || strstr(call, "stderr")) {
        found(s, tidy_line_of(s, w->offset),
              "%.*s: text for people passes the gate: out, note (command/cli.h), "
              "rad__readable_print",
              (int)w->length, w->at);
    }
}

/* Literals behind the format, by the commas between the arguments. */
static void check_arguments(const struct source *s, size_t open, unsigned before)
{
    size_t end = closing(s, open);
    unsigned commas = 0;
    int depth = 0;
    for (size_t at = open; at < end; at++) {
        char c = s->code[at];
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        commas += c == ',' && depth == 1;
        bool escape = s->plain[at] == '\\' && c == ' ' && strchr("nrt", s->plain[at + 1]);
        if (escape && commas > before) {
            found(s, tidy_line_of(s, at),
                  "a \\%c that %%s prints is shown, not printed; it belongs into the format, or put "
                  "the text by itself",
                  s->plain[at + 1]);
        }
        at += s->plain[at] == '\\' && c == ' ';
    }
}

static void rule_gate(const struct source *s)
{
    if (!s->in_src || tidy_ends_with(s->path, "/base/readable.c") || tidy_ends_with(s->path, "/command/out.c")) return;
    struct word w;
    for (size_t at = 0; tidy_next_word(s, s->code, &at, &w);) {
        size_t open = w.offset + w.length;
        if (!tidy_word_is_call(&w)) continue;
        open += strspn(s->code + open, " \n");
        for (size_t i = 0; i < sizeof WRITERS / sizeof *WRITERS; i++)
            if (tidy_word_is(&w, WRITERS[i])) check_writer(s, &w, open);
        for (size_t i = 0; i < sizeof GATED / sizeof *GATED; i++)
            if (tidy_word_is(&w, GATED[i].name)) check_arguments(s, open, GATED[i].before);
    }
}

/* ---- Running ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*check)(const struct source *);
} RULES[] = {
    {"include", rule_include}, {"length", rule_length}, {"layout", rule_layout}, {"guard", rule_guard},
    {"call", rule_call},       {"word", rule_word},     {"todo", rule_todo},     {"atomic", rule_atomic},
    {"address", rule_address}, {"gate", rule_gate},
};
enum { RULE_COUNT = sizeof RULES / sizeof *RULES };

static void check_all(const char *root)
{
    static const char *const folders[] = {"src", "include", "tests", "bench", "tools", "examples"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) tidy_read_tree(&tree, root, folders[i]);
    if (tree.count == 0) {
        fprintf(stderr, "tidy: no C files below %s\n", root);
        exit(2);
    }
    for (size_t i = 0; i < tree.count; i++) {
        const char *path = tree.files[i].path;
        tree.files[i].layer = NO_LAYER;
        if (tree.files[i].in_src) tree.files[i].layer = layer_by_name(path + 4, strcspn(path + 4, "/"));
    }
    for (size_t rule = 0; rule < RULE_COUNT; rule++) {
        current_rule = RULES[rule].name;
        for (size_t i = 0; i < tree.count; i++) RULES[rule].check(&tree.files[i]);
    }
}

static void print_findings(const char *rule, const char *prefix)
{
    for (size_t i = 0; i < finding_count; i++) {
        const struct finding *f = &findings[i];
        if (!rule || strcmp(f->rule, rule) == 0)
            printf("%s%s:%zu: %s: %s\n", prefix, f->file->path, f->line, f->rule, f->what);
    }
}

static size_t findings_at(const struct source *s, size_t line, const char *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < finding_count; i++) {
        const struct finding *f = &findings[i];
        count += f->file == s && f->line == line && strcmp(f->rule, rule) == 0;
    }
    return count;
}

/* Compares the findings of one rule with the comments "expect: RULE". Says what differs. */
static bool fixtures_agree(const char *rule)
{
    char mark[64];
    snprintf(mark, sizeof mark, "expect: %s", rule);
    size_t expected = 0, wrong = 0;
    for (size_t i = 0; i < tree.count; i++) {
        const struct source *s = &tree.files[i];
        for (size_t line = 1; line <= s->line_count; line++) {
            bool wanted = tidy_line_says(s, line, mark);
            size_t got = findings_at(s, line, rule);
            expected += wanted;
            if (wanted != (got > 0)) {
                printf("# %s:%zu: %s: %s\n", s->path, line, rule,
                       wanted ? "expected, not found" : "found, not expected");
                wrong++;
            }
        }
    }
    if (expected == 0) printf("# no fixture expects %s\n", rule);
    return expected > 0 && wrong == 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc == 3 ? argv[1] : "";
    bool fixtures = strcmp(mode, "--fixtures") == 0;
    bool tap = fixtures || strcmp(mode, "--tap") == 0;
    if (argc < 2 || argc > 3 || (argc == 3 && !tap)) {
        fprintf(stderr, "usage: tidy [--tap] ROOT | tidy --fixtures DIR\n");
        return 2;
    }
    check_all(argv[argc - 1]);
    if (!tap) {
        print_findings(NULL, "");
        printf("tidy: %zu files, %zu findings\n", tree.count, finding_count);
        return finding_count > 0;
    }
    int status = 0;
    printf("1..%d\n", RULE_COUNT);
    for (size_t i = 0; i < RULE_COUNT; i++) {
        const char *rule = RULES[i].name;
        bool ok = true;
        if (fixtures)
            ok = fixtures_agree(rule);
        else
            for (size_t k = 0; k < finding_count; k++) ok = ok && strcmp(findings[k].rule, rule) != 0;
        printf("%s %zu - tidy %s%s\n", ok ? "ok" : "not ok", i + 1, rule, fixtures ? " bites" : "");
        if (!ok && !fixtures) print_findings(rule, "# ");
        status |= !ok;
    }
    return status;
}
