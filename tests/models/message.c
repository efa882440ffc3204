/* message.c — message passing: a writer fills plain data and says so, a reader that has heard of it reads the data.
 * Saying and hearing are done in the ways C11 knows; in each the twin does it right, and without `repaired`
 * one ordering is missing: a data race in every schedule in which the reader gets through.
 *
 *     how 0   store                 not a release
 *         1   load                  not an acquire
 *         2   fence, relaxed store  the writer's fence is missing
 *         3   relaxed load, fence   the reader's fence is missing
 *         4   store, and a third    the third thread stores over it, which ends the release sequence; the twin
 *             thread on top         adds to it, which goes on with it
 *         5   compare-and-swap      the successful one is relaxed; the reader hears by a failing one
 *         6   exchange of a byte    relaxed, beside a byte of somebody else in the same word
 *         7   store                 a release, but the data is written once more behind it
 *         8   four bytes, of which  not a release
 *             the reader loads one
 *         9   fence, relaxed store  the data is written behind the fence, not before it
 *        10   store, and a third    the reader passes it on, relaxed; the third reads what the writer, atomically,
 *             thread behind it      has written, and the reader has read since */
#include <stdatomic.h>

#include "lab/l2/model.h"

enum { HOW };
enum { STORE, LOAD, WRITER_FENCE, READER_FENCE, SEQUENCE, SWAP, BYTE, AFTERWARDS, MIXED, BETWEEN, RELAYED };

static _Atomic uint32_t flag;
static _Atomic uint8_t bytes[2];
static uint64_t data;

static uint32_t message_threads(const rad_case *c)
{
    return c->params[HOW] == SEQUENCE || c->params[HOW] == RELAYED ? 3 : 2;
}

static const char *message_role(const rad_case *c, uint32_t thread)
{
    (void)c;
    return thread == 0 ? "writer" : thread == 1 ? "reader" : "third";
}

static void message_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&flag, sizeof flag, "flag");
    rad__model_name(bytes, sizeof bytes, "byte");
    rad__model_name(&data, sizeof data, "data");
}

__attribute__((noinline)) static void say(const rad_case *c)
{
    uint32_t none = 0;
    bool wrong = !c->repaired;
    switch (c->params[HOW]) {
    case WRITER_FENCE:
        if (!wrong) atomic_thread_fence(memory_order_release); /* pairs with hear's acquire */
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
        break;
    case BETWEEN:
        if (wrong) atomic_thread_fence(memory_order_release); /* too early: pairs with nothing */
        data = 42;
        if (!wrong) atomic_thread_fence(memory_order_release); /* pairs with hear's acquire */
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
        break;
    case RELAYED:
        atomic_store_explicit((_Atomic uint64_t *)&data, 42, memory_order_relaxed);
        atomic_store_explicit(&flag, 1, memory_order_release); /* pairs with hear's load */
        break;
    case SWAP:
        if (wrong)
            atomic_compare_exchange_strong_explicit(&flag, &none, 1, memory_order_relaxed, memory_order_relaxed);
        else /* pairs with hear's failing one */
            atomic_compare_exchange_strong_explicit(&flag, &none, 1, memory_order_release, memory_order_relaxed);
        break;
    case BYTE:
        if (wrong)
            atomic_exchange_explicit(&bytes[1], 1, memory_order_relaxed);
        else /* pairs with hear's load */
            atomic_exchange_explicit(&bytes[1], 1, memory_order_release);
        break;
    default:
        if (wrong && (c->params[HOW] == STORE || c->params[HOW] == MIXED))
            atomic_store_explicit(&flag, 1, memory_order_relaxed);
        else /* pairs with hear's load */
            atomic_store_explicit(&flag, 1, memory_order_release);
    }
}

__attribute__((noinline)) static bool hear_by_load(void)
{
    return atomic_load_explicit(&flag, memory_order_acquire) == 1; /* pairs with say's store */
}

__attribute__((noinline)) static bool hear(const rad_case *c)
{
    uint32_t guess = 7;
    bool wrong = !c->repaired, heard;
    switch (c->params[HOW]) {
    case LOAD:
        if (wrong) return atomic_load_explicit(&flag, memory_order_relaxed) == 1;
        break;
    case READER_FENCE:
        heard = atomic_load_explicit(&flag, memory_order_relaxed) == 1;
        if (!wrong) atomic_thread_fence(memory_order_acquire); /* pairs with say's release */
        return heard;
    case SEQUENCE: /* pairs with say's store, behind which the third thread wrote */
        return atomic_load_explicit(&flag, memory_order_acquire) == 2;
    case SWAP: /* pairs with say's successful one */
        atomic_compare_exchange_weak_explicit(&flag, &guess, 0, memory_order_acq_rel, memory_order_acquire);
        return guess == 1;
    case BYTE: /* pairs with say's exchange */
        atomic_store_explicit(&bytes[0], 1, memory_order_relaxed);
        return atomic_load_explicit(&bytes[1], memory_order_acquire) == 1;
    case MIXED: /* pairs with say's store */
        return atomic_load_explicit((_Atomic uint8_t *)&flag, memory_order_acquire) == 1;
    default: break;
    }
    return hear_by_load();
}

/* Relaxed either way: what counts is whether it is a read-modify-write. */
__attribute__((noinline)) static void on_top(const rad_case *c)
{
    if (atomic_load_explicit(&flag, memory_order_relaxed) != 1) return;
    if (c->repaired)
        atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&flag, 2, memory_order_relaxed);
}

/* Told by the reader, which knows that the data is there. */
__attribute__((noinline)) static bool is_told(const rad_case *c)
{
    if (c->repaired) /* pairs with the reader's store */
        return atomic_load_explicit(&flag, memory_order_acquire) == 2;
    return atomic_load_explicit(&flag, memory_order_relaxed) == 2;
}

static void relayed_body(const rad_case *c, uint32_t thread)
{
    if (thread == 0) {
        say(c);
    } else if (thread == 1 && hear(c)) {
        RAD_MODEL_ASSERT(data == 42);
        if (c->repaired) /* pairs with is_told's load */
            atomic_store_explicit(&flag, 2, memory_order_release);
        else
            atomic_store_explicit(&flag, 2, memory_order_relaxed);
    } else if (thread == 2 && is_told(c)) {
        RAD_MODEL_ASSERT(data == 42);
    }
}

static void message_body(const rad_case *c, uint32_t thread)
{
    if (c->params[HOW] == RELAYED) {
        relayed_body(c, thread);
    } else if (thread == 0) {
        if (c->params[HOW] != BETWEEN) data = 42;
        say(c);
        if (c->params[HOW] == AFTERWARDS && !c->repaired) data = 42;
    } else if (thread == 2) {
        on_top(c);
    } else if (hear(c)) {
        RAD_MODEL_ASSERT(data == 42);
    }
}

static const rad_param message_params[] = {
    [HOW] = {"how", 0, 0, RELAYED, "the way to say and to hear", true},
    {.name = NULL},
};

RAD_MODEL(message, .name = "l2-message", .about = "message passing: plain data behind an atomic flag",
          .params = message_params, .bug = "one ordering is missing: the flag does not publish the data",
          .bug_at = "hear_by_load", .thread_count = message_threads, .thread_role = message_role,
          .setup = message_setup, .body = message_body);
