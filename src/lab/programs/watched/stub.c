/* stub.c — the functions that compilers call for -fsanitize=thread, in place of the sanitizer's: linked, hidden, into
 * each program and shared object that `raddle cc` builds (stub.h).
 *
 * By itself the program does what it says: plain accesses return at once, atomics are done, with the order that was
 * asked for or a stronger one. Under test the library hears of each. An operation itself is always done here.
 *
 * tidy: builtin atomics ok: <stdatomic.h> has no nand, and for 16 bytes needs a library. */
#include "lab/programs/watched/stub.h"

#include <string.h>

extern const rad_watched_calls rad_watched __attribute__((weak, visibility("default")));

#define ON           __builtin_expect(&rad_watched != NULL, 0)
#define PC           __builtin_return_address(0)
#define STUB         __attribute__((visibility("hidden"), section("raddle_stub"), used, noinline))
#define PLAIN_PTR(a) ((const void *)(uintptr_t)(a)) /* tidy: address ok: no qualifiers */

/* ---- Plain accesses ------------------------------------------------------------------------------------------ */

#define DEFINE_PLAIN(name, size, writes)                                                                               \
    STUB void __tsan_##name(void *at);                                                                                 \
    STUB void __tsan_##name(void *at)                                                                                  \
    {                                                                                                                  \
        if (ON) rad_watched.plain(at, size, writes, PC);                                                               \
    }

#define DEFINE_VOLATILE(name, size, writes)                                                                            \
    STUB void __tsan_##name(void *at);                                                                                 \
    STUB void __tsan_##name(void *at)                                                                                  \
    {                                                                                                                  \
        if (ON) rad_watched.volatiles(at, size, writes, PC);                                                           \
    }

#define SIZES(X) X(1) X(2) X(4) X(8) X(16)

#define DEFINE_SIZE(size)                                                                                              \
    DEFINE_PLAIN(read##size, size, 0)                                                                                  \
    DEFINE_PLAIN(write##size, size, 1)                                                                                 \
    DEFINE_PLAIN(read_write##size, size, 1)                                                                            \
    DEFINE_PLAIN(unaligned_read##size, size, 0)                                                                        \
    DEFINE_PLAIN(unaligned_write##size, size, 1)                                                                       \
    DEFINE_PLAIN(unaligned_read_write##size, size, 1)                                                                  \
    DEFINE_VOLATILE(volatile_read##size, size, 0)                                                                      \
    DEFINE_VOLATILE(volatile_write##size, size, 1)                                                                     \
    DEFINE_VOLATILE(unaligned_volatile_read##size, size, 0)                                                            \
    DEFINE_VOLATILE(unaligned_volatile_write##size, size, 1)
SIZES(DEFINE_SIZE)

STUB void __tsan_read_range(void *at, size_t size);
STUB void __tsan_read_range(void *at, size_t size)
{
    if (ON) rad_watched.plain(at, size, 0, PC);
}

STUB void __tsan_write_range(void *at, size_t size);
STUB void __tsan_write_range(void *at, size_t size)
{
    if (ON) rad_watched.plain(at, size, 1, PC);
}

/* A constructor writes the same table again and again: only a change counts. */
STUB void __tsan_vptr_update(void **at, void *value);
STUB void __tsan_vptr_update(void **at, void *value)
{
    if (ON && *at != value) rad_watched.plain(at, sizeof *at, 1, PC);
}

STUB void __tsan_vptr_read(void **at);
STUB void __tsan_vptr_read(void **at)
{
    if (ON) rad_watched.plain(at, sizeof *at, 0, PC);
}

STUB void *__tsan_memcpy(void *to, const void *from, size_t size);
STUB void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    if (ON && size > 0) {
        rad_watched.plain(from, size, 0, PC);
        rad_watched.plain(to, size, 1, PC);
    }
    return memcpy(to, from, size);
}

STUB void *__tsan_memmove(void *to, const void *from, size_t size);
STUB void *__tsan_memmove(void *to, const void *from, size_t size)
{
    if (ON && size > 0) {
        rad_watched.plain(from, size, 0, PC);
        rad_watched.plain(to, size, 1, PC);
    }
    return memmove(to, from, size);
}

STUB void *__tsan_memset(void *to, int byte, size_t size);
STUB void *__tsan_memset(void *to, int byte, size_t size)
{
    if (ON && size > 0) rad_watched.plain(to, size, 1, PC);
    return memset(to, byte, size);
}

/* ---- Atomics -------------------------------------------------------------------------------------------------- */

typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

#define BEGIN(a, kind)                                                                                                 \
    if (ON) rad_watched.begin(PLAIN_PTR(a), sizeof *(a), kind, PC)
#define END(kind, order)                                                                                               \
    if (ON) rad_watched.end(kind, order)

/* A constant order, which compilers want: the strongest, but for stores, where that costs. */
enum { STRONGEST = __ATOMIC_SEQ_CST };

#define DEFINE_RMW(bits, name, builtin, kind)                                                                          \
    STUB word##bits __tsan_atomic##bits##_##name(volatile word##bits *a, word##bits v, int order);                     \
    STUB word##bits __tsan_atomic##bits##_##name(volatile word##bits *a, word##bits v, int order)                      \
    {                                                                                                                  \
        BEGIN(a, kind);                                                                                                \
        word##bits old = builtin(a, v, STRONGEST);                                                                     \
        END(kind, order);                                                                                              \
        return old;                                                                                                    \
    }

/* gcc asks for success and keeps what was there in *expected; clang asks for what was there. */
#define DEFINE_CAS(bits, name)                                                                                         \
    STUB int __tsan_atomic##bits##_##name(volatile word##bits *a, word##bits *expected, word##bits v, int order,       \
                                          int otherwise);                                                              \
    STUB int __tsan_atomic##bits##_##name(volatile word##bits *a, word##bits *expected, word##bits v, int order,       \
                                          int otherwise)                                                               \
    {                                                                                                                  \
        BEGIN(a, RAD_WATCHED_CAS);                                                                                     \
        int done = __atomic_compare_exchange_n(a, expected, v, 0, STRONGEST, STRONGEST);                               \
        END(done ? RAD_WATCHED_CAS : RAD_WATCHED_CAS_FAILED, done ? order : otherwise);                                \
        return done;                                                                                                   \
    }

#define DEFINE_ATOMIC(bits)                                                                                            \
    STUB word##bits __tsan_atomic##bits##_load(const volatile word##bits *a, int order);                               \
    STUB word##bits __tsan_atomic##bits##_load(const volatile word##bits *a, int order)                                \
    {                                                                                                                  \
        BEGIN(a, RAD_WATCHED_LOAD);                                                                                    \
        word##bits value = __atomic_load_n(a, STRONGEST);                                                              \
        END(RAD_WATCHED_LOAD, order);                                                                                  \
        return value;                                                                                                  \
    }                                                                                                                  \
    STUB void __tsan_atomic##bits##_store(volatile word##bits *a, word##bits v, int order);                            \
    STUB void __tsan_atomic##bits##_store(volatile word##bits *a, word##bits v, int order)                             \
    {                                                                                                                  \
        BEGIN(a, RAD_WATCHED_STORE);                                                                                   \
        if ((order & 7) == __ATOMIC_SEQ_CST)                                                                           \
            __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                                  \
        else                                                                                                           \
            __atomic_store_n(a, v, __ATOMIC_RELEASE);                                                                  \
        END(RAD_WATCHED_STORE, order);                                                                                 \
    }                                                                                                                  \
    DEFINE_RMW(bits, exchange, __atomic_exchange_n, RAD_WATCHED_EXCHANGE)                                              \
    DEFINE_RMW(bits, fetch_add, __atomic_fetch_add, RAD_WATCHED_FETCH)                                                 \
    DEFINE_RMW(bits, fetch_sub, __atomic_fetch_sub, RAD_WATCHED_FETCH)                                                 \
    DEFINE_RMW(bits, fetch_and, __atomic_fetch_and, RAD_WATCHED_FETCH)                                                 \
    DEFINE_RMW(bits, fetch_or, __atomic_fetch_or, RAD_WATCHED_FETCH)                                                   \
    DEFINE_RMW(bits, fetch_xor, __atomic_fetch_xor, RAD_WATCHED_FETCH)                                                 \
    DEFINE_RMW(bits, fetch_nand, __atomic_fetch_nand, RAD_WATCHED_FETCH)                                               \
    DEFINE_CAS(bits, compare_exchange_strong)                                                                          \
    DEFINE_CAS(bits, compare_exchange_weak)                                                                            \
    STUB word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *a, word##bits expected,            \
                                                               word##bits v, int order, int otherwise);                \
    STUB word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *a, word##bits expected,            \
                                                               word##bits v, int order, int otherwise)                 \
    {                                                                                                                  \
        BEGIN(a, RAD_WATCHED_CAS);                                                                                     \
        int done = __atomic_compare_exchange_n(a, &expected, v, 0, STRONGEST, STRONGEST);                              \
        END(done ? RAD_WATCHED_CAS : RAD_WATCHED_CAS_FAILED, done ? order : otherwise);                                \
        return expected;                                                                                               \
    }

#define BITS(X) X(8) X(16) X(32) X(64)
BITS(DEFINE_ATOMIC)

/* Sixteen bytes: by compare-and-swap, which is all that processors have, and no library is needed for. */
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
__extension__ typedef unsigned __int128 word128;

static inline word128 swap128(volatile word128 *a, word128 old, word128 v)
{
    return __sync_val_compare_and_swap(a, old, v);
}

#define DEFINE_RMW128(name, OPERATION, kind)                                                                           \
    STUB word128 __tsan_atomic128_##name(volatile word128 *a, word128 v, int order);                                   \
    STUB word128 __tsan_atomic128_##name(volatile word128 *a, word128 v, int order)                                    \
    {                                                                                                                  \
        BEGIN(a, kind);                                                                                                \
        word128 old = swap128(a, 0, 0), seen;                                                                          \
        while ((seen = swap128(a, old, OPERATION(old, v))) != old) old = seen;                                         \
        END(kind, order);                                                                                              \
        return old;                                                                                                    \
    }

#define TAKE(a, b) (b)
#define ADD(a, b)  ((a) + (b))
#define SUB(a, b)  ((a) - (b))
#define AND(a, b)  ((a) & (b))
#define OR(a, b)   ((a) | (b))
#define XOR(a, b)  ((a) ^ (b))
#define NAND(a, b) (~((a) & (b)))
DEFINE_RMW128(exchange, TAKE, RAD_WATCHED_EXCHANGE)
DEFINE_RMW128(fetch_add, ADD, RAD_WATCHED_FETCH)
DEFINE_RMW128(fetch_sub, SUB, RAD_WATCHED_FETCH)
DEFINE_RMW128(fetch_and, AND, RAD_WATCHED_FETCH)
DEFINE_RMW128(fetch_or, OR, RAD_WATCHED_FETCH)
DEFINE_RMW128(fetch_xor, XOR, RAD_WATCHED_FETCH)
DEFINE_RMW128(fetch_nand, NAND, RAD_WATCHED_FETCH)

STUB word128 __tsan_atomic128_load(const volatile word128 *a, int order);
STUB word128 __tsan_atomic128_load(const volatile word128 *a, int order)
{
    BEGIN(a, RAD_WATCHED_LOAD);
    word128 value = swap128((volatile word128 *)(uintptr_t)a, 0, 0); /* tidy: address ok */
    END(RAD_WATCHED_LOAD, order);
    return value;
}

STUB void __tsan_atomic128_store(volatile word128 *a, word128 v, int order);
STUB void __tsan_atomic128_store(volatile word128 *a, word128 v, int order)
{
    BEGIN(a, RAD_WATCHED_STORE);
    word128 old = swap128(a, 0, 0), seen;
    while ((seen = swap128(a, old, v)) != old) old = seen;
    END(RAD_WATCHED_STORE, order);
}

#define DEFINE_CAS128(name)                                                                                            \
    STUB int __tsan_atomic128_##name(volatile word128 *a, word128 *expected, word128 v, int order, int otherwise);     \
    STUB int __tsan_atomic128_##name(volatile word128 *a, word128 *expected, word128 v, int order, int otherwise)      \
    {                                                                                                                  \
        BEGIN(a, RAD_WATCHED_CAS);                                                                                     \
        word128 seen = swap128(a, *expected, v);                                                                       \
        int done = seen == *expected;                                                                                  \
        *expected = seen;                                                                                              \
        END(done ? RAD_WATCHED_CAS : RAD_WATCHED_CAS_FAILED, done ? order : otherwise);                                \
        return done;                                                                                                   \
    }
DEFINE_CAS128(compare_exchange_strong)
DEFINE_CAS128(compare_exchange_weak)

STUB word128 __tsan_atomic128_compare_exchange_val(volatile word128 *a, word128 expected, word128 v, int order,
                                                   int otherwise);
STUB word128 __tsan_atomic128_compare_exchange_val(volatile word128 *a, word128 expected, word128 v, int order,
                                                   int otherwise)
{
    BEGIN(a, RAD_WATCHED_CAS);
    word128 seen = swap128(a, expected, v);
    int done = seen == expected;
    END(done ? RAD_WATCHED_CAS : RAD_WATCHED_CAS_FAILED, done ? order : otherwise);
    return seen;
}
#endif

STUB void __tsan_atomic_thread_fence(int order);
STUB void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(STRONGEST);
    if (ON) rad_watched.fence(order);
}

STUB void __tsan_atomic_signal_fence(int order);
STUB void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(STRONGEST);
}

/* ---- The rest ---------------------------------------------------------------------------------------------------
 * */

STUB void __tsan_init(void);
STUB void __tsan_init(void)
{
}

STUB void __tsan_func_entry(void *caller);
STUB void __tsan_func_entry(void *caller)
{
    (void)caller;
}

STUB void __tsan_func_exit(void);
STUB void __tsan_func_exit(void)
{
}

/* What programs tell the sanitizer by themselves. */
STUB void __tsan_acquire(void *object);
STUB void __tsan_acquire(void *object)
{
    if (ON) rad_watched.acquire(object);
}

STUB void __tsan_release(void *object);
STUB void __tsan_release(void *object)
{
    if (ON) rad_watched.release(object);
}

/* ---- Where they are called ------------------------------------------------------------------ */

#define ROW(function, name) {(const void *)(uintptr_t)function, name}, /* tidy: address ok */
#define ROWS_OF_SIZE(size)                                                                                             \
    ROW(__tsan_read##size, "read")                                                                                     \
    ROW(__tsan_write##size, "write")                                                                                   \
    ROW(__tsan_read_write##size, "write")                                                                              \
    ROW(__tsan_unaligned_read##size, "read")                                                                           \
    ROW(__tsan_unaligned_write##size, "write")                                                                         \
    ROW(__tsan_unaligned_read_write##size, "write")                                                                    \
    ROW(__tsan_volatile_read##size, "volatile read")                                                                   \
    ROW(__tsan_volatile_write##size, "volatile write")                                                                 \
    ROW(__tsan_unaligned_volatile_read##size, "volatile read")                                                         \
    ROW(__tsan_unaligned_volatile_write##size, "volatile write")
#define ROWS_OF_BITS(bits)                                                                                             \
    ROW(__tsan_atomic##bits##_load, "load")                                                                            \
    ROW(__tsan_atomic##bits##_store, "store")                                                                          \
    ROW(__tsan_atomic##bits##_exchange, "exchange")                                                                    \
    ROW(__tsan_atomic##bits##_fetch_add, "fetch_add")                                                                  \
    ROW(__tsan_atomic##bits##_fetch_sub, "fetch_sub")                                                                  \
    ROW(__tsan_atomic##bits##_fetch_and, "fetch_and")                                                                  \
    ROW(__tsan_atomic##bits##_fetch_or, "fetch_or")                                                                    \
    ROW(__tsan_atomic##bits##_fetch_xor, "fetch_xor")                                                                  \
    ROW(__tsan_atomic##bits##_fetch_nand, "fetch_nand")                                                                \
    ROW(__tsan_atomic##bits##_compare_exchange_strong, "compare_exchange")                                             \
    ROW(__tsan_atomic##bits##_compare_exchange_weak, "compare_exchange")                                               \
    ROW(__tsan_atomic##bits##_compare_exchange_val, "compare_exchange")

static const rad_watched_operation operations[] = {
    SIZES(ROWS_OF_SIZE) BITS(ROWS_OF_BITS)
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
        ROWS_OF_BITS(128)
#endif
            ROW(__tsan_read_range, "read") ROW(__tsan_write_range, "write") ROW(__tsan_vptr_update, "write")
                ROW(__tsan_vptr_read, "read") ROW(__tsan_memcpy, "copy") ROW(__tsan_memmove, "copy")
                    ROW(__tsan_memset, "fill")};

extern const char __start_raddle_stub[] __attribute__((visibility("hidden")));
extern const char __stop_raddle_stub[] __attribute__((visibility("hidden")));

static const rad_watched_module module = {__start_raddle_stub, __stop_raddle_stub, operations,
                                          sizeof operations / sizeof *operations};

__attribute__((constructor, used)) static void loaded(void)
{
    if (ON) rad_watched.module(&module);
}
