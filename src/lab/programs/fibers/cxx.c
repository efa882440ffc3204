/* cxx.c — names of C++ for people, by the demangler of the C++ library that the program has (__cxa_demangle).
 *
 * It works on a stack of its own, for a fiber's is small and it takes as much as the name is long; and what it gets
 * from malloc is the lab's memory (memory.c), so the program's is as it was. Names are kept by a hash of the symbol.
 *
 * Rejected: a demangler here (a thousand lines that follow two compilers); one in raddle, which would have to put
 * names into texts that have others in the file, and could not compare them with those of --suppress. */
#include "lab/programs/fibers/files.h"

#include "base/alloc.h"
#include "base/prng.h"
#include "os/context.h"

#include <stdio.h>
#include <string.h>

extern char *__cxa_demangle(const char *symbol, char *room, size_t *size, int *status) __attribute__((weak));

enum { NAMES_MAX = 1 << 12, SYMBOL_MAX = 1000, STACK_SIZE = 1 << 18 };

/* In the lab's memory: names outlive the run. */
static struct {
    uint64_t hash; /* 0: free */
    char text[RAD_CXX_NAME_MAX];
} * names;
static uint32_t *name_count;
static char *stack;

bool rad__cxx_works;

void rad__cxx_open(void)
{
    names = rad__alloc(NAMES_MAX, sizeof *names);
    name_count = rad__alloc(1, sizeof *name_count);
    if (__cxa_demangle != NULL) stack = rad__alloc(1, STACK_SIZE);
}

/* ---- On the other stack ------------------------------------------------------------------------------------- */

typedef struct work {
    rad_context here, there;
    const char *symbol;
    char *text; /* NULL: it is no name of C++ */
} work;

static void demangle(void *context)
{
    work *w = context;
    int status;
    w->text = __cxa_demangle(w->symbol, NULL, NULL, &status);
    rad__context_switch(&w->there, &w->here);
}

static char *demangled(const char *symbol)
{
    work w = {.symbol = symbol};
    rad__context_make(&w.there, stack, STACK_SIZE, demangle, &w);
    rad__cxx_works = true;
    rad__context_switch(&w.here, &w.there);
    rad__cxx_works = false;
    return w.text;
}

/* ---- Short -------------------------------------------------------------------------------------------------- */

static bool follows_operator(const char *text, const char *at)
{
    static const char word[] = "operator";
    size_t size = sizeof word - 1;
    while (at > text && strchr("<>=-(", at[-1])) at--;
    return (size_t)(at - text) >= size && strncmp(at - size, word, size) == 0;
}

/* The bracket that closes the one at `open`; NULL: none. */
static char *closing(char *open, char left, char right)
{
    int depth = 0;
    for (char *at = open; *at; at++) {
        depth += *at == left;
        if (*at == right && at[-1] != '-' && --depth == 0) return at;
    }
    return NULL;
}

/* "Queue<int, Less<int> >::push" becomes "Queue<>::push". */
static void empty_templates(char *text)
{
    for (char *at = strchr(text, '<'); at != NULL; at = strchr(at + 1, '<')) {
        char *end = follows_operator(text, at) ? NULL : closing(at, '<', '>');
        if (end != NULL) memmove(at + 1, end, strlen(end) + 1);
    }
}

/* The parameters are the last parentheses, but for a const behind them. */
static void empty_parameters(char *text)
{
    char *end = strrchr(text, ')'), *at = end;
    int depth = 0;
    for (; at != NULL && at >= text; at--) { /* tidy: address ok: one string */
        depth += (*at == ')') - (*at == '(');
        if (depth == 0) break;
    }
    static const char dots[] = "...";
    size_t size = sizeof dots - 1;
    if (at == NULL || at <= text || (size_t)(end - at - 1) < size || end[1] == ':') return;
    memcpy(at + 1, dots, size);
    memmove(at + 1 + size, end, strlen(end) + 1);
}

static void shorten(char *text, char *room)
{
    static const char nothing[] = "void "; /* what a template returns */
    char *clone = strstr(text, " [clone");
    if (clone != NULL) *clone = 0;
    if (strncmp(text, nothing, sizeof nothing - 1) == 0) text += sizeof nothing - 1;
    if (strlen(text) >= RAD_CXX_NAME_MAX) empty_templates(text);
    if (strlen(text) >= RAD_CXX_NAME_MAX) empty_parameters(text);
    snprintf(room, RAD_CXX_NAME_MAX, "%s", text);
}

/* ---- Kept --------------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *symbol, size_t size)
{
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++) hash = rad__mix64(hash ^ (uint8_t)symbol[i]);
    return hash ? hash : 1;
}

/* Copies of a function, and variables within functions, have a number behind a dot. */
static void put(const char *symbol, size_t size, char *text)
{
    bool mangled = stack != NULL && symbol[0] == '_' && symbol[1] == 'Z' && size < SYMBOL_MAX;
    char *name = mangled ? demangled(symbol) : NULL;
    if (name != NULL)
        shorten(name, text);
    else
        snprintf(text, RAD_CXX_NAME_MAX, "%.*s", (int)strcspn(symbol, "."), symbol);
    rad__free(name);
}

bool rad__cxx_type(const char *mangled, char *text, size_t size)
{
    char *name = stack != NULL && strlen(mangled) < SYMBOL_MAX ? demangled(mangled) : NULL;
    if (name != NULL) snprintf(text, size, "%s", name);
    rad__free(name);
    return name != NULL;
}

const char *rad__cxx_name(const char *symbol)
{
    size_t size = symbol ? strlen(symbol) : 0;
    bool plain = size < 2 || (strncmp(symbol, "_Z", 2) != 0 && strchr(symbol, '.') == NULL);
    if (plain || names == NULL || name_count == NULL) return symbol;
    uint64_t hash = hash_of(symbol, size);
    uint32_t at = (uint32_t)(hash % NAMES_MAX);
    while (names[at].hash != 0 && names[at].hash != hash) at = (at + 1) % NAMES_MAX;
    if (names[at].hash == hash) return names[at].text;
    if (*name_count == NAMES_MAX / 2) return symbol;
    ++*name_count;
    put(symbol, size, names[at].text);
    names[at].hash = hash;
    return names[at].text;
}
