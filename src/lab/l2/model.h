/* model.h — production code on trial at the depth of memory operations: how to write a model.
 *
 * A model is an ordinary C11 file in tests/models/: a setup, a body per thread, a final check. It is
 * compiled together with the production sources in such a way that every atomic of either is a scheduling
 * point and every plain access is watched for races (docs/memory-level.md). `raddle list` shows it as a machine.
 *
 *     static rad_gate gate;                            statics are restored before every run
 *     static void setup(const rad_case *c) { … }       alone, before the threads
 *     static void body(const rad_case *c, uint32_t thread) { … }
 *     static void check(const rad_case *c) { … }       alone, after all threads have ended; frees everything
 *     RAD_MODEL(gate, .name = "l2-gate", …);
 *
 * What a model must not do: read clocks, print, start threads, or allocate other than by rad__alloc, malloc,
 * calloc, realloc and free. */
#ifndef RAD_LAB_L2_MODEL_H
#define RAD_LAB_L2_MODEL_H

#include "base/check.h"

#include <raddle/machine.h>

typedef struct rad_model {
    const char *name, *about;
    const rad_param *params;                     /* or NULL */
    const char *bug;                             /* what is wrong with it, when it is not `repaired`; NULL: nothing */
    const char *bug_at;                          /* the function whose first atomic is where the bug bites */
    const char *covers;                          /* ends of the paths of the sources on trial: "deque thread/group" */
    const char *file;                            /* the model's own; set by RAD_MODEL */
    bool no_locals;                              /* nothing in it is thread-local: saves 25 ns per step */
    uint32_t threads;                            /* at most RAD_MODEL_THREADS_MAX … */
    uint32_t (*thread_count)(const rad_case *c); /* … or as the case has it */
    const char *(*thread_role)(const rad_case *c, uint32_t thread); /* NULL: "thread" */
    void (*setup)(const rad_case *c);                               /* or NULL */
    void (*body)(const rad_case *c, uint32_t thread);
    void (*check)(const rad_case *c); /* or NULL */
} rad_model;

enum { RAD_MODEL_THREADS_MAX = 7 };

/* Puts the model into the table of its object file. */
#define RAD_MODEL(id, ...)                                                                                             \
    static const rad_model rad_model_##id = {.file = __FILE__, __VA_ARGS__};                                           \
    __attribute__((used, section("l2models"))) static const rad_model *const rad_model_at_##id = &rad_model_##id

/* A property of the program on trial; counted, so that "nothing found" can be told from "nothing asked". */
#define RAD_MODEL_ASSERT(x) (rad__model_asked(), (x) ? (void)0 : rad__model_failed(__FILE__, __LINE__, __func__, #x))

RAD_INTERNAL void rad__model_asked(void);
RAD_INTERNAL _Noreturn void rad__model_failed(const char *file, int line, const char *function, const char *what);

/* In setup: what lies there is called `name` (a literal) in reports. Without a name it is "heap" or "static". */
RAD_INTERNAL void rad__model_name(const volatile void *p, size_t size, const char *name);

/* A choice of the model's own: 0 … count-1. */
RAD_INTERNAL uint32_t rad__model_choose(uint32_t count);

/* In setup: an operation of one of these sources (stems, as in `covers`) is one step, and so are several of the same
 * one in a row: for objects that have models of their own, in models of what uses them. What is done in one of these
 * functions ("f", or "f:load" for its loads only) is no step at all, but part of the one before: for what commutes with
 * everything that others do. */
RAD_INTERNAL void rad__model_coarse(const char *stems, const char *functions);

/* How often time has passed because nobody could go on: in a model where nobody has to wait for the clock, each of
 * these is a wake that was lost. */
RAD_INTERNAL uint32_t rad__model_jumps(void);

/* The table; the one name that the object file with all models gives away. */
RAD_INTERNAL const rad_model *const *rad__l2_models(uint32_t *count);

#endif
