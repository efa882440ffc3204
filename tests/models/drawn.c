/* drawn.c — a program that is drawn by somebody else, and comes as numbers: up to three threads, of up to four
 * operations each, over two words. Each way in which it can end is a failure of its own, so that one exploration says
 * which results there are. tests/judge/test_judge_l2.c compares them with those of brute force.
 *
 * An operation has seven bits: kind, word, value. The first one is in the lowest bits.
 *
 *     1  see      what one has seen so far, and the word
 *     2  put      the value into the word
 *     3  add      the value to it
 *     4  wait     look until it is at least the value
 *     5  take     exchange 1 until it was something else
 *     6  yield    as wait, but gives way
 *     7  retry    add 1 by compare-and-swap
 *     8  sleep    while it is the value, or until woken
 *     9  wake     all who sleep on it
 *    10  try      as wait, but look five times at most
 *    11  polite   the same, and give way after each look */
#include <stdatomic.h>

#include "lab/l2/model.h"
#include "os/thread.h"
#include "os/wait.h"

enum { FIRST, SECOND, THIRD, THREADS_MAX };
enum { OP_BITS = 7, WORDS = 2, DIGITS = 3 };
enum { END, SEE, PUT, ADD, WAIT, TAKE, YIELD, RETRY, SLEEP, WAKE, TRY, POLITE, TRIES = 5 };

static _Atomic uint32_t words[WORDS];
static uint32_t seen[THREADS_MAX];
static char result[(THREADS_MAX + WORDS) * (DIGITS + 1)];

/* All are sequentially consistent, and pair with each other. */
static uint32_t get(const _Atomic uint32_t *word)
{
    return atomic_load_explicit(word, memory_order_seq_cst); /* pairs with set */
}

static void set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_seq_cst); /* pairs with get */
}

static void retry(_Atomic uint32_t *word)
{
    uint32_t before = get(word);
    /* Pairs with set, and with itself. */
    while (!atomic_compare_exchange_strong_explicit(word, &before, before + 1, memory_order_seq_cst,
                                                    memory_order_seq_cst)) {
    }
}

static void look(const _Atomic uint32_t *word, uint32_t value, bool gives_way)
{
    while (get(word) < value)
        if (gives_way) rad__os_give_way(false);
}

static void try(const _Atomic uint32_t *word, uint32_t value, bool gives_way)
{
    for (uint32_t i = 0; i < TRIES && get(word) < value; i++)
        if (gives_way) rad__os_give_way(false);
}

static void op(uint32_t thread, uint32_t bits)
{
    _Atomic uint32_t *word = &words[bits >> 4 & 1];
    uint32_t value = bits >> 5 & 3, kind = bits & 15;
    switch (kind) {
    case SEE: seen[thread] = (seen[thread] << 3 | (get(word) & 7)) & 0xfff; break;
    case PUT: set(word, value); break;
    case ADD:
        /* Pairs with set, and with itself. */
        atomic_fetch_add_explicit(word, value, memory_order_seq_cst);
        break;
    case WAIT:
    case YIELD: look(word, value, kind == YIELD); break;
    case TAKE:
        /* Pairs with set, and with itself. */
        while (atomic_exchange_explicit(word, 1, memory_order_seq_cst) == 1) {
        }
        break;
    case RETRY: retry(word); break;
    case SLEEP: rad__os_word_wait(word, value); break;
    case TRY:
    case POLITE: try(word, value, kind == POLITE); break;
    case WAKE: rad__os_word_wake(word, UINT32_MAX); break;
    default: break;
    }
}

/* Each operation has a call of its own: a loop that sees the same in three rounds would be one that spins. */
static void drawn_body(const rad_case *c, uint32_t thread)
{
    const uint32_t ops = (uint32_t)c->params[thread];
    op(thread, ops);
    op(thread, ops >> OP_BITS);
    op(thread, ops >> 2 * OP_BITS);
    op(thread, ops >> 3 * OP_BITS);
}

static void put_number(uint32_t at, uint32_t number)
{
    char *to = &result[(size_t)at * (DIGITS + 1)];
    for (uint32_t i = 0; i < DIGITS; i++) to[i] = "0123456789abcdef"[number >> 4 * (2 - i) & 15];
    to[DIGITS] = at + 1 < THREADS_MAX + WORDS ? ' ' : 0;
}

static void drawn_check(const rad_case *c)
{
    if (c->repaired) return;
    for (uint32_t i = 0; i < THREADS_MAX; i++) put_number(i, seen[i]);
    for (uint32_t i = 0; i < WORDS; i++) put_number(THREADS_MAX + i, get(&words[i]));
    rad__model_failed(__FILE__, __LINE__, __func__, result);
}

static uint32_t drawn_threads(const rad_case *c)
{
    return c->params[THIRD] ? 3 : 2;
}

static void drawn_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&words[0], sizeof words[0], "a");
    rad__model_name(&words[1], sizeof words[1], "b");
}

enum { PROGRAM_MAX = (1 << 4 * OP_BITS) - 1 };

static const rad_param drawn_params[] = {
    [FIRST] = {"first", 2 | 1 << 5, 0, PROGRAM_MAX, "the first thread: see the source", true},
    [SECOND] = {"second", 1, 0, PROGRAM_MAX, "the second thread", true},
    [THIRD] = {"third", 0, 0, PROGRAM_MAX, "the third thread; 0: there is none", true},
    {.name = NULL},
};

RAD_MODEL(drawn, .name = "l2-drawn", .about = "a small program given by numbers, for the judge", .params = drawn_params,
          .bug = "each of its results is one", .bug_at = "get", .no_locals = true, .threads = THREADS_MAX,
          .thread_count = drawn_threads, .setup = drawn_setup, .body = drawn_body, .check = drawn_check);
