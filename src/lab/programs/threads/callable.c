/* callable.c — what a std::thread calls, for its name: all of them begin with one function of libstdc++.
 *
 * Its argument is an object whose type says what is called, std::thread::_State_impl<…std::tuple<CALLABLE, …> >: a
 * class or a lambda has a name there. A function does not: it is in the object, the last of as many as the tuple has,
 * for libstdc++ keeps the elements of a tuple from the last to the first. Types are read where the program has them, so
 * it need not have symbols for this. Other C++ libraries begin with a function of the program, which has a name. */
#define _GNU_SOURCE
#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/threads/threads.h"

#include "base/alloc.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

enum { CALLABLES_MAX = 256, NAME_MAX_SIZE = 40, TYPE_TEXT = 1000, WORDS_MAX = 16, PAGE = 4096 };

typedef struct callable {
    const void *type;
    size_t offset;    /* of the function in the object; 0: it has none */
    const void *code; /* the function there */
    char name[NAME_MAX_SIZE];
} callable;

/* In the lab's memory: it outlives a run, as roles have to. */
static struct {
    const void *begins; /* the function with which they begin */
    uint32_t count;
    callable at[CALLABLES_MAX];
} * callables;

void rad__callables_open(void)
{
    callables = rad__alloc(1, sizeof *callables);
}

/* ---- The type ----------------------------------------------------------------------------------------------- */

/* Where the first argument of a template ends. */
static char *element_end(char *at)
{
    int depth = 0;
    for (; *at; at++) {
        if (depth == 0 && (*at == ',' || *at == '>')) return at;
        depth += strchr("<({[", *at) != NULL;
        depth -= strchr(">)}]", *at) != NULL && at[-1] != '-';
    }
    return at;
}

static bool is_pointer(const char *element)
{
    const char *star = strstr(element, "*)(");
    const char *bracket = strchr(element, '<');
    return star != NULL && (bracket == NULL || star < bracket || star[-1] != '(');
}

/* "shop::sell(int)::{lambda(int)#1}" becomes "shop::sell::{lambda#1}". */
static void drop_parentheses(char *text)
{
    char *to = text;
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += *at == '(';
        if (depth == 0) *to++ = *at;
        depth -= *at == ')';
    }
    *to = 0;
}

/* A class or a lambda; not one of the library's. */
static void name_of_class(char *element, char name[NAME_MAX_SIZE])
{
    static const char wrapper[] = "std::reference_wrapper<";
    size_t size = sizeof wrapper - 1;
    if (strncmp(element, wrapper, size) == 0) {
        element += size;
        *element_end(element) = 0;
    }
    drop_parentheses(element);
    if (strncmp(element, "std::", 5) == 0) return;
    for (char *next; strlen(element) >= NAME_MAX_SIZE && (next = strstr(element, "::")) != NULL;) element = next + 2;
    snprintf(name, NAME_MAX_SIZE, "%s", element);
}

/* How many functions the object has up to the callable; 0: none, `name` is it. */
static uint32_t functions_of(char *text, char name[NAME_MAX_SIZE])
{
    static const char tuple[] = "std::tuple<";
    char *element = strstr(text, tuple);
    uint32_t count = 0;
    snprintf(name, NAME_MAX_SIZE, "thread");
    if (element == NULL) return 0;
    element += sizeof tuple - 1;
    char *inner = strstr(element, "_Async_state_impl<") ? strstr(element, tuple) : NULL;
    char *first = inner ? inner + sizeof tuple - 1 : element, *end = element_end(first);
    for (char *at = end; *at == ',';) { /* its arguments */
        char *next = element_end(at + 1), mark = *next;
        *next = 0;
        count += is_pointer(at + 1);
        *next = mark;
        at = next;
    }
    *end = 0;
    if (inner != NULL) snprintf(name, NAME_MAX_SIZE, "async"); /* the function is not in this object */
    if (!is_pointer(first)) name_of_class(first, name);
    return inner == NULL && is_pointer(first) ? count + 1 : 0;
}

/* ---- The object ---------------------------------------------------------------------------------------------- */

static const void *word_at(const void *object, size_t offset)
{
    const void *word;
    memcpy(&word, (const char *)object + offset, sizeof word);
    return word;
}

static bool is_function(const void *code)
{
    struct dl_phdr_info info;
    uintptr_t address = (uintptr_t)code, begin; /* tidy: address ok: only compared */
    return rad__file_at(&info, address) && rad__file_name_at(&info, address, true, &begin) != NULL && begin == address;
}

/* Where the so-many-th function is; 0: there is none. An object ends before the next page, or is readable there. */
static size_t function_at(const void *object, uint32_t count)
{
    size_t room = PAGE - ((uintptr_t)object & (PAGE - 1)); /* tidy: address ok: what can be read */
    for (size_t offset = sizeof(void *), i = 0; i < WORDS_MAX && offset + sizeof(void *) <= room; i++) {
        if (is_function(word_at(object, offset)) && --count == 0) return offset;
        offset += sizeof(void *);
    }
    return 0;
}

static const callable *callable_add(const void *object, const void *type)
{
    char text[TYPE_TEXT];
    if (callables->count == CALLABLES_MAX) return NULL;
    callable *c = &callables->at[callables->count++];
    *c = (callable){.type = type, .name = "thread"};
    const char *mangled = word_at(type, sizeof(void *));
    if (!rad__cxx_type(mangled[0] == '*' ? mangled + 1 : mangled, text, sizeof text)) return c;
    uint32_t count = functions_of(text, c->name);
    if (count > 0) c->offset = function_at(object, count);
    if (c->offset == 0) return c;
    c->code = word_at(object, c->offset);
    snprintf(c->name, sizeof c->name, "%s", rad__address_name(c->code, "thread"));
    return c;
}

/* Is this the function with which libstdc++ begins a thread? It is in its file, or has its name. */
static bool begins_std_thread(const void *code)
{
    struct dl_phdr_info info;
    if (code == callables->begins) return true;
    uintptr_t address = (uintptr_t)code; /* tidy: address ok: where to look */
    if (!rad__file_at(&info, address)) return false;
    bool is = strstr(info.dlpi_name, "/libstdc++.so") != NULL ||
              strcmp(rad__address_name(code, ""), "execute_native_thread_routine") == 0;
    if (is) callables->begins = code;
    return is;
}

const char *rad__callable_name(const void *code, const void *object)
{
    if (object == NULL || callables == NULL || !begins_std_thread(code)) return NULL;
    const void *table = word_at(object, 0), *type = word_at((const char *)table - sizeof(void *), 0);
    const callable *c;
    for (uint32_t i = 0; i < callables->count; i++) {
        c = &callables->at[i];
        if (c->type == type && (c->offset == 0 || c->code == word_at(object, c->offset))) return c->name;
    }
    c = callable_add(object, type);
    return c ? c->name : NULL;
}
