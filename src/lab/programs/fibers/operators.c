/* operators.c — the operators new and delete of C++, in a program that is linked with an allocator (jemalloc).
 *
 * Such a library brings its own operators with its own malloc. That malloc is answered in memory.c, and jemalloc's
 * delete calls free by its name: so blocks would come from one heap and go to the other. Here all of them are the C++
 * library's, which call malloc and free. Operators that come from anywhere else, as a program's own do, are left alone,
 * and so are all where the allocator gives malloc's blocks, too. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/mistakes.h"

#include <dlfcn.h>
#include <string.h>

static const void *object_of(void *symbol)
{
    Dl_info found;
    return symbol && dladdr(symbol, &found) ? found.dli_fbase : NULL;
}

static void *library_has(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle ? dlsym(handle, name) : NULL;
    if (handle) dlclose(handle);
    return symbol;
}

static void find(const char *name, void *real)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++.so.1"};
    void *symbol = dlsym(RTLD_NEXT, name);
    const void *object = object_of(symbol);
    bool foreign = symbol == NULL || (object != NULL && object == object_of(dlsym(RTLD_NEXT, "malloc")));
    if (symbol != NULL && !rad__memory_is_of_libc()) foreign = false;
    for (uint32_t i = 0; foreign && i < 2; i++) {
        void *its = library_has(libraries[i], name);
        if (its != NULL && its != symbol) symbol = its;
        if (its != NULL) foreign = false;
    }
    if (symbol == NULL) rad__libc_find(name, real); /* says so */
    memcpy(real, &symbol, sizeof symbol);
}

#define OPERATOR(type, name, parameters, arguments)                                                                    \
    static type(*real_##name) parameters;                                                                              \
    RAD_ANSWER(type, name, parameters)                                                                                 \
    {                                                                                                                  \
        if (real_##name == NULL) find(#name, &real_##name);                                                            \
        return real_##name arguments;                                                                                  \
    }

typedef const void *nothrow; /* a reference */

OPERATOR(void *, _Znwm, (size_t size), (size))
OPERATOR(void *, _Znam, (size_t size), (size))
OPERATOR(void *, _ZnwmRKSt9nothrow_t, (size_t size, nothrow n), (size, n))
OPERATOR(void *, _ZnamRKSt9nothrow_t, (size_t size, nothrow n), (size, n))
OPERATOR(void *, _ZnwmSt11align_val_t, (size_t size, size_t align), (size, align))
OPERATOR(void *, _ZnamSt11align_val_t, (size_t size, size_t align), (size, align))
OPERATOR(void *, _ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, nothrow n), (size, align, n))
OPERATOR(void *, _ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t align, nothrow n), (size, align, n))
OPERATOR(void, _ZdlPv, (void *p), (p))
OPERATOR(void, _ZdaPv, (void *p), (p))
OPERATOR(void, _ZdlPvm, (void *p, size_t size), (p, size))
OPERATOR(void, _ZdaPvm, (void *p, size_t size), (p, size))
OPERATOR(void, _ZdlPvRKSt9nothrow_t, (void *p, nothrow n), (p, n))
OPERATOR(void, _ZdaPvRKSt9nothrow_t, (void *p, nothrow n), (p, n))
OPERATOR(void, _ZdlPvSt11align_val_t, (void *p, size_t align), (p, align))
OPERATOR(void, _ZdaPvSt11align_val_t, (void *p, size_t align), (p, align))
OPERATOR(void, _ZdlPvmSt11align_val_t, (void *p, size_t size, size_t align), (p, size, align))
OPERATOR(void, _ZdaPvmSt11align_val_t, (void *p, size_t size, size_t align), (p, size, align))
OPERATOR(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, nothrow n), (p, align, n))
OPERATOR(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void *p, size_t align, nothrow n), (p, align, n))

/* Before anything is forked: each run would look for them again, which takes as long as hundreds of steps. */
void rad__operators_open(void)
{
#define FIND(name)                                                                                                     \
    if (dlsym(RTLD_NEXT, #name) != NULL) find(#name, &real_##name);
    FIND(_Znwm)
    FIND(_Znam)
    FIND(_ZnwmRKSt9nothrow_t)
    FIND(_ZnamRKSt9nothrow_t)
    FIND(_ZnwmSt11align_val_t)
    FIND(_ZnamSt11align_val_t)
    FIND(_ZnwmSt11align_val_tRKSt9nothrow_t)
    FIND(_ZnamSt11align_val_tRKSt9nothrow_t)
    FIND(_ZdlPv)
    FIND(_ZdaPv)
    FIND(_ZdlPvm)
    FIND(_ZdaPvm)
    FIND(_ZdlPvRKSt9nothrow_t)
    FIND(_ZdaPvRKSt9nothrow_t)
    FIND(_ZdlPvSt11align_val_t)
    FIND(_ZdaPvSt11align_val_t)
    FIND(_ZdlPvmSt11align_val_t)
    FIND(_ZdaPvmSt11align_val_t)
    FIND(_ZdlPvSt11align_val_tRKSt9nothrow_t)
    FIND(_ZdaPvSt11align_val_tRKSt9nothrow_t)
#undef FIND
}
