/* stub.h — between a program that `raddle cc` has built and the library that is loaded under it: what the calls that
 * the compiler inserted come to.
 *
 * Each program and shared object has its own copy of stub.c, hidden in it. The library defines `rad_watched`; without
 * it that name is a weak reference to nothing, and the calls do what the code says. */
#ifndef RAD_LAB_PROGRAMS_WATCHED_STUB_H
#define RAD_LAB_PROGRAMS_WATCHED_STUB_H

#include <stddef.h>
#include <stdint.h>

/* What an atomic operation does to memory. */
enum rad_watched_kind {
    RAD_WATCHED_LOAD,
    RAD_WATCHED_STORE,
    RAD_WATCHED_EXCHANGE,
    RAD_WATCHED_FETCH,
    RAD_WATCHED_CAS,
    RAD_WATCHED_CAS_FAILED, /* only in `end` */
    RAD_WATCHED_READ,       /* volatile, or plain */
    RAD_WATCHED_WRITE
};

/* An operation that the compiler inserts calls for, by the function that is called. */
typedef struct rad_watched_operation {
    const void *function;
    const char *name;
} rad_watched_operation;

typedef struct rad_watched_module {
    const char *stub, *stub_end; /* of the code of the functions */
    const rad_watched_operation *operations;
    uint32_t operation_count;
} rad_watched_module;

typedef struct rad_watched_calls {
    void (*module)(const rad_watched_module *m); /* when it is loaded; it stays the module's */
    void (*plain)(const void *at, size_t size, int writes, const void *pc);
    void (*volatiles)(const void *at, size_t size, int writes, const void *pc);
    /* Before an atomic operation, and after it. Nobody else runs in between. */
    void (*begin)(const void *at, size_t size, enum rad_watched_kind kind, const void *pc);
    void (*end)(enum rad_watched_kind kind, int order);
    void (*fence)(int order);
    /* Orders that a program knows of, as it tells sanitizers. */
    void (*acquire)(const void *object);
    void (*release)(const void *object);
} rad_watched_calls;

#endif
