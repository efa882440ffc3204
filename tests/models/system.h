/* system.h — what models have instead of the operating system: threads that production code starts, and file
 * descriptors that it waits for. A call to the system is one step, and orders nothing else: whatever production code
 * relies on has to be ordered by its own atomics. */
#ifndef RAD_S_MODELS_SYSTEM_H
#define RAD_S_MODELS_SYSTEM_H

#include "os/poll.h"

enum { RAD_SYSTEM_THREADS = 3, RAD_SYSTEM_FILES = 4 };

/* In setup: so many threads can be started in all; then the system has no more. */
RAD_INTERNAL void rad__system_open(uint32_t threads);

/* What the n-th of them does: waits until it is started, runs, and ends. */
RAD_INTERNAL void rad__system_thread(uint32_t n);

/* Nobody will start another one. */
RAD_INTERNAL void rad__system_shut(void);

/* A descriptor begins, of which nothing is ready; as soon as there is none of this number. */
RAD_INTERNAL void rad__system_file(int fd);

/* … and something is, from now on: bits of os/poll.h. */
RAD_INTERNAL void rad__system_ready(int fd, uint32_t ready);

/* How often there was another one of this number; whether there is one now; what was ready of those from … to. */
typedef struct rad_system_look {
    uint32_t opened, closed;
    bool open;
} rad_system_look;

RAD_INTERNAL rad_system_look rad__system_look(int fd);
RAD_INTERNAL uint32_t rad__system_was_ready(int fd, uint32_t from, uint32_t to);

/* In check: polls that were opened and not closed. */
RAD_INTERNAL uint32_t rad__system_polls(void);

#endif
