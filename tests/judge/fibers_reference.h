/* fibers_reference.h — what a program of fibers may do: every result, by trying every order.
 *
 * Written from include/raddle/{fiber,chan,sync,io}.h and docs/fibers.md alone; it shares nothing with the runtime.
 * A world is a small block of bytes. One action changes it at a time: a fiber does the next small step of its
 * operation, a deadline comes, a timer fires, a cancellation arrives. All actions, and all choices inside an
 * action, are tried in all worlds, each of which is visited once. A world in which nothing can happen is an end. */
#ifndef RAD_TEST_FIBERS_REFERENCE_H
#define RAD_TEST_FIBERS_REFERENCE_H

#include "fibers_program.h"

/* What interesting things can happen in a program: X(name, text). */
#define FIBERS_SEEN_LIST(X)                                                                                            \
    X(RENDEZVOUS, "an unbuffered send and a receive meet")                                                             \
    X(DIRECT, "a value goes to a receiver that waits")                                                                 \
    X(REFILL, "a sender that waits moves up when there is room")                                                       \
    X(DROP_NEW, "the new value is dropped")                                                                            \
    X(DROP_OLD, "the old value is dropped")                                                                            \
    X(BATCH_SENT, "several are sent in one go")                                                                        \
    X(BATCH_RECEIVED, "several are received in one go")                                                                \
    X(BATCH_AFTER_WAIT, "more can be had after a batch has waited for its first")                                      \
    X(DRAIN, "a closed channel still has values")                                                                      \
    X(CLOSE_RECEIVER, "a close while a receiver waits")                                                                \
    X(CLOSE_SENDER, "a close while a sender waits")                                                                    \
    X(CLOSE_SELECT, "a close while a select waits")                                                                    \
    X(CLOSE_TWICE, "a second close")                                                                                   \
    X(SELECT_RANDOM, "a select has several cases that are ready")                                                      \
    X(SELECT_WOKEN, "a select that waited has a winner")                                                               \
    X(SELECT_BOTH_SENDS, "a waiting select with a send gives its value to a receiver")                                 \
    X(SELECT_TWO, "two selects meet")                                                                                  \
    X(SELECT_TIMEOUT, "a select that waited times out")                                                                \
    X(SELECT_CANCELED, "a select that waits is cancelled")                                                             \
    X(SELECT_ON_CANCEL, "a select has a case for being cancelled, and gets it")                                        \
    X(SELECT_LOCK, "a select gets a mutex")                                                                            \
    X(SELECT_LEAVES, "a select that wanted to write leaves, and readers get in")                                       \
    X(WAIT_TIMEOUT, "a wait times out")                                                                                \
    X(WAIT_CANCELED, "a wait is cancelled")                                                                            \
    X(WAIT_DEADLINE, "a nursery's deadline ends a wait")                                                               \
    X(CANCELED_BEFORE, "a call by a fiber that was cancelled")                                                         \
    X(CANCELED_HAS, "a fiber that was cancelled gets what can be had")                                                 \
    X(LATE_HAS, "a fiber past its nursery's deadline gets what can be had")                                            \
    X(SHIELDED, "a shielded fiber that was cancelled waits")                                                           \
    X(BARGE, "a mutex is taken past those who wait")                                                                   \
    X(HAND_OVER, "a mutex is handed over")                                                                             \
    X(LOCK_CANCELED, "a fiber is cancelled while it locks, which goes on")                                             \
    X(WRITER_FIRST, "a reader waits behind a writer that waits")                                                       \
    X(READERS_IN, "several readers get in at once")                                                                    \
    X(WRITER_AFTER_WRITER, "a writer follows a writer past readers")                                                   \
    X(SIGNAL_WAKES, "a signal wakes one of several")                                                                   \
    X(BROADCAST_WAKES, "a broadcast wakes several")                                                                    \
    X(SIGNAL_NOBODY, "a signal to nobody")                                                                             \
    X(COND_CANCELED, "a wait for a condition is cancelled")                                                            \
    X(COND_RELOCK, "a woken waiter has to wait for the mutex")                                                         \
    X(MANY_PERMITS, "one that wants many permits holds up one that wants few")                                         \
    X(PERMITS_LEFT, "one that wanted many leaves, and the next one is served")                                         \
    X(GROUP_WAKES, "a group gets to 0 while somebody waits")                                                           \
    X(ONCE_AGAIN, "the next one tries what has failed")                                                                \
    X(ONCE_WAITS, "somebody waits for the one who runs a once")                                                        \
    X(BARRIER_OPENS, "all meet at a barrier")                                                                          \
    X(BARRIER_LEFT, "one leaves a barrier")                                                                            \
    X(STOCK_REUSED, "an item is used again")                                                                           \
    X(STOCK_WAITS, "one who waits gets an item")                                                                       \
    X(STOCK_SPOILED, "an item cannot be used again")                                                                   \
    X(STOCK_FAILS, "an item cannot be made")                                                                           \
    X(STOCK_CLOSE_WAITER, "a stock is closed while somebody waits")                                                    \
    X(TIMER_WAKES, "a timer fires while a fiber or thread waits for it")                                               \
    X(TIMER_IN_TIME, "a start or stop takes back a firing")                                                            \
    X(TIMER_RUNNING, "a start or stop of a timer that runs")                                                           \
    X(ALARM, "the function of a timer is called")                                                                      \
    X(JOIN_WAITS, "a join waits for the end")                                                                          \
    X(JOIN_STALE, "a join of a fiber that is gone")                                                                    \
    X(JOIN_MANY, "several wait for the same end")                                                                      \
    X(CANCEL_ENDED, "a cancellation comes after the end")                                                              \
    X(CHILD_FAILS, "a child fails first")                                                                              \
    X(CHILD_ON_PURPOSE, "a cancelled child is no failure")                                                             \
    X(REASON, "the reason of a cancellation is the answer")                                                            \
    X(REASON_TWICE, "a second reason")                                                                                 \
    X(SPAWN_CLOSED, "a spawn into a nursery that takes no more")                                                       \
    X(SPAWN_CANCELED, "a spawn into a nursery that was cancelled")                                                     \
    X(CANCEL_BELOW, "a cancellation reaches a nursery below")                                                          \
    X(OWNER_CANCELED, "the fiber that waits for its nursery is cancelled")                                             \
    X(LIMIT, "no more fibers")                                                                                         \
    X(LIMIT_WAITS, "a spawn waits for an end")                                                                         \
    X(BLOCKING_BUSY, "all threads are busy")                                                                           \
    X(TASK_IN_ORDER, "a result waits for the one before it")                                                           \
    X(TASK_REFUSED, "a task that could not be sent is waited for")                                                     \
    X(DEADLOCKS, "a deadlock")                                                                                         \
    X(ABORTS, "a mistake")                                                                                             \
    X(TWO_RESULTS, "more than one result")

enum fibers_seen {
#define FIBERS_SEEN_ENUM(name, text) FIBERS_SEEN_##name,
    FIBERS_SEEN_LIST(FIBERS_SEEN_ENUM)
#undef FIBERS_SEEN_ENUM
        FIBERS_SEEN_COUNT
};

enum { FIBERS_CODES = 16 }; /* 0 … 3 as they are, then -1 … -11, skipped */

/* All results of one program, and what can happen on the way. */
typedef struct fibers_set {
    fibers_result *results;
    uint32_t count;
    uint32_t states;
    bool is_whole; /* false: there are more states than were allowed */
    uint8_t seen[FIBERS_SEEN_COUNT];
    uint8_t codes[FIBERS_OP_KINDS][FIBERS_CODES]; /* an operation can answer that */
} fibers_set;

void fibers_enumerate(const fibers_program *p, uint32_t most_states, fibers_set *set);

/* On threads. A wait whose deadline has passed before it began, but is not 0, is in line for a moment, in which it can
 * be served; in the lab nobody comes in between. */
void fibers_enumerate_parallel(const fibers_program *p, uint32_t most_states, fibers_set *set);

/* Only what the runtime does where the documentation leaves more open: the result of a wait whose deadline has
 * passed before it began, or whose fiber's nursery's has; who of those that meet at a barrier is told so; when a
 * handle that was released is forgotten; what a call does when its fiber is cancelled at the moment it begins;
 * whether the thread of a blocking call begins before its fiber has looked at the clock and at cancellations. A
 * subset, each of which can be had with some schedule of whole calls. */
void fibers_enumerate_firm(const fibers_program *p, uint32_t most_states, bool is_quiet, fibers_set *set);

/* With a quiet clock: no deadline comes while anything else can happen. */
void fibers_enumerate_quiet(const fibers_program *p, uint32_t most_states, fibers_set *set);
void fibers_set_free(fibers_set *set);

/* The index of the result, or -1. What was going on at the moment of an abort may be cut off anywhere. */
int64_t fibers_set_find(const fibers_set *set, const fibers_result *result);

/* Whether the first is the second, up to some entry of each fiber. */
bool fibers_is_cut_from(const fibers_result *cut, const fibers_result *whole);

uint32_t fibers_code_index(int8_t code);
const char *fibers_seen_text(uint32_t seen);

#endif
