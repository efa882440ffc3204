/* ready.h — waiting until file descriptors are ready: who waits for what, questions to the system, and its answers.
 *
 * Ready     Each runtime has one of these: a poll (os/poll.h), opened when it is first needed, and a table of files.
 *           Threads that are in no runtime share another one, and a thread that polls for them.
 * File      what is known of one descriptor: three queues of clauses (for reading, for writing, for either), and the
 *           number of the last question. A place in the table for each descriptor number, never freed or moved
 *           before the runtime ends; chunks of 64, 128, 256 … of them.
 * Question  is about the state of the descriptor, once, for all that wait for it. The system is not asked under a
 *           lock, so one at a time asks (`asking`); who comes meanwhile leaves a mark (`dirty`), and it is asked again.
 *
 *              waiter                                        poller (any thread)
 *         Q1   puts its clause into a queue, lock       A1   an answer: which question, what is ready
 *         Q2   number + 1: the former answer counts     A2   lock; another number ? nothing, a later question was asked
 *              no more; unlock                               or is about to be
 *         Q3   asks the system                          A3   claims the clauses that can go on; unlock, wakes them
 *         Q4   lock; dirty ? again from Q2              A4   any left ? asks again, for them
 * Claim: nobody is forgotten. A question is about a state, not a change, and is asked (Q3) after the clause lay in its
 * queue (Q1): ready before, it is answered at once. An answer that A2 throws away was for a former question, and Q3 of
 * the later one comes after its Q2. A call that finds `asking` in Q2 sets `dirty` under the same lock under which Q4
 * looks. An answer takes the question with it: those that it did not help are asked for again (A4). No fiber gets an
 * answer that was true for another: the number tells questions apart, also those about a descriptor that was closed,
 * and whose number was given to another one.
 *
 * Close     rad_fd_close claims all that wait, counts the question up, lets the poll forget the descriptor, closes
 *           it, and asks again for those who came between: the system says that there is no such descriptor, or it
 *           is another one.
 * Failure   of Q3: all that waited in Q2 get it as their answer (the `want` of their clauses tells), but not who came
 *           meanwhile, perhaps for another descriptor. What cannot be waited for because it never blocks is ready.
 *
 * Waits     how many wait. While it is 0 nobody polls, and nothing of this costs anything. Who polls: poller.c.
 *
 * Rejected: one table and one poll for all runtimes (whoever polls would wake fibers of a runtime that may be gone
 * by then); not asking when an earlier question is still open (the descriptor may have been closed, and its number be
 * another's, without our knowing); waking one of several (the state is true for all of them, and who is woken may not
 * use it). */
#ifndef RAD_RT_READY_H
#define RAD_RT_READY_H

#include "os/poll.h"
#include "rt/wait.h"

enum { RAD_FILE_CHUNKS = 26, RAD_FILE_FIRST = 64, RAD_ANSWERS_MOST = 256 };

/* Tables of descriptors: chunk n holds RAD_FILE_FIRST << n of them, those after the chunks before. */
static inline uint32_t rad__file_chunk_size(uint32_t n)
{
    return (uint32_t)RAD_FILE_FIRST << n;
}

static inline uint32_t rad__file_chunk(uint32_t fd, uint32_t *at)
{
    uint32_t n = 31 - (uint32_t)__builtin_clz(fd / RAD_FILE_FIRST + 1);
    *at = fd - (rad__file_chunk_size(n) - RAD_FILE_FIRST);
    return n;
}

typedef struct rad_file {
    rad_waitable object;
    int fd;
    uint32_t question;
    bool asking, dirty;
    bool asked;          /* the poll may know the descriptor */
    rad_queue queues[3]; /* [interest - 1] */
} rad_file;

typedef struct rad_ready {
    _Atomic uint64_t poll;  /* the descriptors of a rad_os_poll, each + 1; 0: not open */
    _Atomic uint32_t looks; /* changes after each poll */
    _Atomic(rad_file *) chunks[RAD_FILE_CHUNKS];
    struct rad_ready *next; /* of all that were opened, and the rest: under their lock */
    uint64_t id;            /* in the order in which they were */
    uint32_t pins;          /* number of threads that look at it */
    bool listed;
    _Alignas(64) _Atomic uint32_t waits;
} rad_ready;

static inline uint32_t rad__ready_waits(const rad_ready *r)
{
    return atomic_load_explicit(&r->waits, memory_order_relaxed);
}

/* All zero is one that was never used. Nobody waits or polls any more. */
RAD_INTERNAL void rad__ready_close(rad_ready *r);

/* Takes answers, sleeping for up to `ns`: how many (RAD_ANSWERS_MOST at most). A failure is none. */
RAD_INTERNAL uint32_t rad__ready_listen(rad_ready *r, rad_os_event *events, uint64_t ns);

/* Wakes whom they are for, from the last to the first: a worker takes the newest first. */
RAD_INTERNAL void rad__ready_answer(rad_ready *r, const rad_os_event *events, uint32_t count);

/* Both, without sleeping: how many answers. */
RAD_INTERNAL uint32_t rad__ready_look(rad_ready *r);

/* Ends a listen that sleeps, or the next one that would. */
RAD_INTERNAL void rad__ready_ring(rad_ready *r);

/* ---- Threads that are in no runtime: service.c ------------------------------------------------------- */

RAD_INTERNAL rad_ready *rad__service_ready(void);

/* There is a thread that polls for them. 0, or why not: RAD_EIO. */
RAD_INTERNAL int rad__service_start(void);

/* When the process ends. */
RAD_INTERNAL void rad__service_stop(void);

/* In the child after a fork. */
RAD_INTERNAL void rad__service_forked(void);

/* The same: what was opened by its parent is not to be touched. The poll is one and the same in both processes, and
 * whom a close in the child made it forget would wait for ever in the parent. */
RAD_INTERNAL void rad__ready_forked(void);

/* How many there are: 0 or 1. */
RAD_INTERNAL uint32_t rad__ready_threads(void);

/* ---- Waiting ----------------------------------------------------------------------------------------- */

/* Waiting for a file, as a clause: its code will be what is ready, or why not. With `now` it is looked at here, and the
 * clause can be done or not. 0, or RAD_EINPUT, RAD_ENOMEM, RAD_EIO. */
RAD_INTERNAL int rad__file_clause(rad_clause *c, int fd, unsigned interest, bool now);

/* Around every wait that has such a clause, by the one who waits. */
RAD_INTERNAL void rad__file_waits(bool begins);

/* ---- Workers that poll: poller.c --------------------------------------------------------------------- */

/* The hooks of exec/thread/thread.h. */
RAD_INTERNAL enum rad_exec_slept rad__poller_sleeps(void *runtime, rad_worker *w, uint64_t ns);
RAD_INTERNAL void rad__poller_wakes(void *runtime);
RAD_INTERNAL bool rad__poller_looks(void *runtime, rad_worker *w);
RAD_INTERNAL bool rad__poller_hurries(void *runtime);

/* By a worker that leaves for good. */
RAD_INTERNAL void rad__poller_leaves(rad_runtime *rt);

/* By a worker that has others to run, now and then. */
RAD_INTERNAL void rad__poller_glance(rad_rt_worker *rt_worker);

/* By the monitor: looks when nobody else has since `*looks`. True: nobody sleeps for answers, so it has to come
 * again. */
RAD_INTERNAL bool rad__poller_stands_in(rad_runtime *rt, uint32_t *looks);

#endif
