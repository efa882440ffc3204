/* libc_memory.c — see libc_memory.h. The library that is loaded under test has these functions before the C library has
 * them, so calls by any code come here; what counts are those whose return address lies in watched code. gcc is told
 * not to expand copies in place (cli/compile.c), clang calls functions of the stub.
 *
 * A call is one step: a point comes before it if its place is one, then what it reads and writes is looked at, and
 * nothing else runs in between. What it writes from outside is looked at when it has returned.
 *
 * Rejected: names that the linker changes (--wrap). A program with a function `send` of its own would have its calls
 * changed, too. */
#define _GNU_SOURCE
#include "lab/programs/watched/libc_memory.h"

#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/tell.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

typedef long words_function(long a, long b, long c, long d, long e, long f);

enum { RANGES_MAX = 3 };

static const struct {
    const char *name;
    rad_libc_range ranges[RANGES_MAX + 1];
} calls[RAD_LIBC_COUNT] = {
#define ROW(name, ...) [RAD_LIBC_##name] = {#name, {__VA_ARGS__}},
    RAD_LIBC_SEEN(ROW) RAD_LIBC_PRINTING(ROW) RAD_LIBC_WAITING(ROW)
#undef ROW
};

/* ---- The real ones ------------------------------------------------------------------------------------------ */

static words_function *reals[RAD_LIBC_COUNT];

static words_function *real_of(enum rad_libc_call call)
{
    if (RAD_UNLIKELY(reals[call] == NULL)) {
        void *symbol = dlsym(RTLD_NEXT, calls[call].name); /* calls none of these */
        RAD_ASSERT(symbol != NULL);
        __builtin_memcpy(&reals[call], &symbol, sizeof symbol);
    }
    return reals[call];
}

void rad__libc_open(void)
{
    for (uint32_t i = 0; i < RAD_LIBC_COUNT; i++) real_of((enum rad_libc_call)i);
}

#define REAL(name, ...) real_of(RAD_LIBC_##name)(__VA_ARGS__)

/* ---- What is used ------------------------------------------------------------------------------------------- */

typedef struct made {
    const long *arguments;
    long result;
} made;

static const char *pointer_of(const made *m, uint32_t argument)
{
    long value = argument == 0 ? m->result : m->arguments[argument - 1];
    return rad__argument_pointer(value);
}

static size_t number_of(const made *m, uint32_t argument)
{
    return argument == 0 ? SIZE_MAX : (size_t)m->arguments[argument - 1];
}

static size_t string_size(const char *text, size_t most)
{
    size_t size = 0;
    while (size < most && text[size] != 0) size++;
    return size < most ? size + 1 : most;
}

static size_t sought_size(const char *text, int byte, size_t most, bool string)
{
    for (size_t i = 0; i < most; i++)
        if (text[i] == (char)byte || (string && text[i] == 0)) return i + 1;
    return most;
}

static size_t equal_size(const char *one, const char *other, size_t most)
{
    for (size_t i = 0; i < most; i++)
        if (one[i] != other[i] || one[i] == 0) return i + 1;
    return most;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t size_of(const rad_libc_range *r, const made *m)
{
    size_t most = number_of(m, r->b), size = 0;
    switch ((enum rad_libc_size)r->size) {
    case RAD_LIBC_BYTES: size = number_of(m, r->a); return r->b && __builtin_mul_overflow(size, most, &size) ? 0 : size;
    case RAD_LIBC_STRING: return string_size(pointer_of(m, r->a), most);
    case RAD_LIBC_SOUGHT: return sought_size(pointer_of(m, r->at), (int)m->arguments[1], most, r->b == 0);
    case RAD_LIBC_EQUAL: return equal_size(pointer_of(m, 1), pointer_of(m, 2), most);
    case RAD_LIBC_RESULT:
        if (m->result <= 0) return 0;
        size = (size_t)m->result;
        if (r->a && __builtin_mul_overflow(size, number_of(m, r->a), &size)) return 0;
        return least(size, most);
    case RAD_LIBC_PRINTED: return m->result < 0 ? 0 : least((size_t)(int)m->result + 1, most);
    case RAD_LIBC_FIXED: return r->a;
    case RAD_LIBC_PARTS:
    case RAD_LIBC_MESSAGE:
    default: return 0;
    }
}

static void use(const char *at, size_t size, bool writes, const void *pc)
{
    rad__watched_plain(at, size, (writes ? RAD_PLAIN_WRITES : 0) | RAD_PLAIN_MET, pc);
}

/* As much of the parts as was filled, or all. */
static void use_parts(const struct iovec *parts, size_t count, size_t most, bool writes, const void *pc)
{
    for (size_t i = 0; i < count && i < IOV_MAX && most > 0; i++) {
        size_t size = least(parts[i].iov_len, most);
        use(parts[i].iov_base, size, writes, pc);
        most -= size;
    }
}

static void use_range(const rad_libc_range *r, const made *m, const void *pc)
{
    const char *at = pointer_of(m, r->at);
    bool writes = r->use != RAD_LIBC_READS;
    size_t most = r->use == RAD_LIBC_WROTE ? (size_t)(m->result > 0 ? m->result : 0) : SIZE_MAX;
    if (at == NULL) return;
    if (r->size == RAD_LIBC_PARTS) {
        use_parts((const void *)at, number_of(m, r->a), most, writes, pc);
    } else if (r->size == RAD_LIBC_MESSAGE) {
        const struct msghdr *message = (const void *)at;
        use_parts(message->msg_iov, message->msg_iovlen, most, writes, pc);
    } else {
        size_t size = size_of(r, m);
        if (r->use == RAD_LIBC_APPENDS) at += string_size(at, SIZE_MAX) - 1;
        use(at, size, writes, pc);
    }
}

static bool is_seen(rad_watch *w, const void *pc)
{
    return w != NULL && rad__view_now(w) != NULL && rad__watched_code(pc);
}

static bool call_writes(enum rad_libc_call call)
{
    for (const rad_libc_range *r = calls[call].ranges; r->use != RAD_LIBC_NOTHING; r++)
        if (r->use != RAD_LIBC_READS) return true;
    return false;
}

void rad__libc_begins(enum rad_libc_call call, const long *arguments, const void *pc)
{
    rad_watch *w = rad__monitor;
    if (RAD_LIKELY(!is_seen(w, pc))) return;
    made m = {arguments, 0};
    const rad_libc_range *r = calls[call].ranges;
    bool writes = call_writes(call);
    uint32_t site = rad__watched_site(w, pc, calls[call].name);
    const char *at = pointer_of(&m, r->at == 0 ? 1 : r->at);
    if (w->sites[site].is_point) rad__watched_stop(writes ? RAD_AT_WRITE : RAD_AT_READ, at, pc);
    rad__watched_looks(rad__view_now(w), writes ? NULL : at, 1, pc);
    for (; r->use != RAD_LIBC_NOTHING; r++)
        if (r->use != RAD_LIBC_WROTE) use_range(r, &m, pc);
}

void rad__libc_ends(enum rad_libc_call call, const long *arguments, long result, const void *pc)
{
    if (RAD_LIKELY(!is_seen(rad__monitor, pc))) return;
    made m = {arguments, result};
    int error = errno;
    for (const rad_libc_range *r = calls[call].ranges; r->use != RAD_LIBC_NOTHING; r++)
        if (r->use == RAD_LIBC_WROTE) use_range(r, &m, pc);
    errno = error;
}

/* ---- The calls ---------------------------------------------------------------------------------------------- */

#define PC __builtin_return_address(0)

#define SEEN(name, ...)                                                                                                \
    RAD_API long rad__seen_##name(long a, long b, long c, long d, long e, long f) __asm__(#name);                      \
    long rad__seen_##name(long a, long b, long c, long d, long e, long f)                                              \
    {                                                                                                                  \
        if (RAD_LIKELY(rad__monitor == NULL)) return REAL(name, a, b, c, d, e, f);                                     \
        const long arguments[] = {a, b, c, d, e, f};                                                                   \
        rad__libc_begins(RAD_LIBC_##name, arguments, PC);                                                              \
        long result = REAL(name, a, b, c, d, e, f);                                                                    \
        rad__libc_ends(RAD_LIBC_##name, arguments, result, PC);                                                        \
        return result;                                                                                                 \
    }
RAD_LIBC_SEEN(SEEN)

/* What is behind the format goes to the function for a va_list. */
#define PRINTING(name, parameters, words, format, printed)                                                             \
    RAD_ANSWER(int, name, parameters)                                                                                  \
    {                                                                                                                  \
        const long arguments[] = words;                                                                                \
        va_list more;                                                                                                  \
        rad__libc_begins(RAD_LIBC_##name, arguments, PC);                                                              \
        va_start(more, format);                                                                                        \
        int result = printed;                                                                                          \
        va_end(more);                                                                                                  \
        rad__libc_ends(RAD_LIBC_##name, arguments, result, PC);                                                        \
        return result;                                                                                                 \
    }

#define WORDS(...)                                                                                                     \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define WORD(p) ((long)(uintptr_t)(p)) /* tidy: address ok: as the table has it */

/* Headers declare these only for programs that are hardened. */
extern int checked_vsnprintf(char *to, size_t size, int flag, size_t room, const char *format,
                             va_list more) __asm__("__vsnprintf_chk");
extern int checked_vsprintf(char *to, int flag, size_t room, const char *format,
                            va_list more) __asm__("__vsprintf_chk");

PRINTING(snprintf, (char *to, size_t size, const char *format, ...), WORDS(WORD(to), (long)size, WORD(format)), format,
         checked_vsnprintf(to, size, 0, SIZE_MAX, format, more))
PRINTING(__snprintf_chk, (char *to, size_t size, int flag, size_t room, const char *format, ...),
         WORDS(WORD(to), (long)size, flag, (long)room, WORD(format)), format,
         checked_vsnprintf(to, size, flag, room, format, more))
PRINTING(sprintf, (char *to, const char *format, ...), WORDS(WORD(to), WORD(format)), format,
         checked_vsprintf(to, 0, SIZE_MAX, format, more))
PRINTING(__sprintf_chk, (char *to, int flag, size_t room, const char *format, ...),
         WORDS(WORD(to), flag, (long)room, WORD(format)), format, checked_vsprintf(to, flag, room, format, more))
