/* check.h — assertions. A failed one is a bug in raddle: message on stderr, exit status 4. */
#ifndef RAD_BASE_CHECK_H
#define RAD_BASE_CHECK_H

#include <raddle/base.h>

#define RAD_INTERNAL    __attribute__((visibility("hidden")))
#define RAD_INLINE      static inline __attribute__((always_inline))
#define RAD_LIKELY(x)   __builtin_expect(!!(x), 1)
#define RAD_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For a function on the hottest path that gets a stack canary only because a local's address is taken: it has no array
 * that could overflow. */
#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define RAD_NO_CANARY __attribute__((no_stack_protector))
#endif
#endif
#ifndef RAD_NO_CANARY
#define RAD_NO_CANARY
#endif

RAD_INTERNAL _Noreturn void rad__panic(const char *file, int line, const char *function, const char *what);

/* A mistake of the program that calls us, where going on would do harm: message on stderr, SIGABRT. */
RAD_INTERNAL _Noreturn void rad__misuse(const char *call, const char *what);

/* The same of a fiber with this number, and a name or NULL. */
RAD_INTERNAL _Noreturn void rad__misuse_by(const char *call, uint64_t fiber, const char *name, const char *what);

/* A child process points this into shared memory, so that its parent can tell a bug of ours (it becomes 1)
 * from a machine that exits with status 4. */
RAD_INTERNAL extern volatile uint64_t *rad__panic_mark;

/* Always on, also in release builds: cheap facts only. */
#define RAD_ASSERT(x) (RAD_LIKELY(x) ? (void)0 : rad__panic(__FILE__, __LINE__, __func__, #x))

/* Whole-structure validators and checks on hot paths: debug and test builds. */
#ifdef RAD_CHECKED
#define RAD_DCHECK(x) RAD_ASSERT(x)
#else
#define RAD_DCHECK(x) ((void)sizeof(x))
#endif

#endif
