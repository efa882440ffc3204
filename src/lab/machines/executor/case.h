/* case.h — what one trial of the executor is about: its configuration, the programs its tasks run, and what comes
 * from outside. A case is a readable JSON document; docs/dev/executor-cases.md has the fields. */
#ifndef RAD_LAB_MACHINES_EXECUTOR_CASE_H
#define RAD_LAB_MACHINES_EXECUTOR_CASE_H

#include "base/error.h"
#include "lab/machines/executor/code.h"

enum {
    RAD_CASE_WORKERS_MAX = 16,
    RAD_CASE_PROGRAMS_MAX = 64,
    RAD_CASE_TASKS_MAX = 256, /* in the case; spawned ones come on top */
    RAD_CASE_RESOURCES_MAX = 8,
    RAD_CASE_EVENTS_MAX = 256,
    RAD_CASE_TOKENS_MAX = 64,
    RAD_PROGRAM_NAME_MAX = 24
};

typedef struct rad_program {
    char name[RAD_PROGRAM_NAME_MAX];
    uint32_t length;
    rad_exec_instruction code[RAD_CODE_MAX];
} rad_program;

typedef struct rad_case_task {
    uint16_t program;
    uint16_t at; /* first instruction */
} rad_case_task;

enum rad_event_kind { RAD_EVENT_IO = 0, RAD_EVENT_FAIL_IO, RAD_EVENT_START, RAD_EVENT_CLOSE };

/* Happens at time `at` or later. */
typedef struct rad_case_event {
    uint32_t at;
    uint16_t kind; /* enum rad_event_kind */
    uint16_t what; /* token, or task to start */
} rad_case_event;

enum rad_expect {
    RAD_EXPECT_ENDS = 0,  /* every task that was admitted is finished */
    RAD_EXPECT_COMPLETED, /* and none was refused */
    RAD_EXPECT_REFUSED,   /* and some were */
    RAD_EXPECT_DEADLOCK   /* some are blocked for ever */
};

typedef struct rad_exec_case {
    uint32_t workers, steal_tries, hoard, ring;
    bool plain_wake;
    bool stop_on_failure;
    bool eager_time; /* time may go on while there is something else to do */
    enum rad_expect expect;
    uint32_t resource_count;
    uint32_t totals[RAD_CASE_RESOURCES_MAX];
    uint32_t program_count;
    rad_program *programs;
    uint32_t task_count;
    rad_case_task tasks[RAD_CASE_TASKS_MAX];
    uint32_t runnable_count; /* spawned from outside before the workers start, in this order */
    uint16_t runnable[RAD_CASE_TASKS_MAX];
    uint32_t event_count;
    rad_case_event events[RAD_CASE_EVENTS_MAX];
} rad_exec_case;

/* An empty case with the defaults of production, except for a small ring; NULL: out of memory. */
RAD_INTERNAL rad_exec_case *rad__exec_case_new(void);
RAD_INTERNAL rad_exec_case *rad__exec_case_copy(const rad_exec_case *c);
RAD_INTERNAL void rad__exec_case_free(rad_exec_case *c);

/* Appends an empty program; its number, or RAD_NONE. */
RAD_INTERNAL uint32_t rad__exec_case_program(rad_exec_case *c, const char *name);

/* From and to JSON. Errors are "name: place: expected …, found …", or without the name when that is NULL. The text
 * is canonical, that is without blanks: rad__free it. */
RAD_INTERNAL rad_exec_case *rad__exec_case_parse(const char *text, size_t size, const char *name, rad_error *error);
RAD_INTERNAL char *rad__exec_case_text(const rad_exec_case *c);

/* How large it is, for shrinking: parts first, operands last. */
RAD_INTERNAL uint64_t rad__exec_case_size(const rad_exec_case *c);

/* Names of programs, for code. */
RAD_INTERNAL rad_code_names rad__exec_case_names(const rad_exec_case *c);
RAD_INTERNAL const char *rad__event_name(uint32_t kind);
RAD_INTERNAL const char *rad__expect_name(uint32_t expect);

#endif
