#define _GNU_SOURCE
#include "os/exceptions.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Weak: without a C++ runtime it is NULL, and it brings none into a program. dlsym is weak, too, and dlopen is looked
 * up by name: the linker warns of a static program that refers to dlopen. */
extern rad_exceptions *__cxa_get_globals(void) __attribute__((weak));
#pragma weak dlsym

_Atomic(rad_exceptions_getter) rad__exceptions_getter;

static bool is_runtime(const char *path)
{
    static const char *const names[] = {"libstdc++.so", "libc++abi.so"};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    if (info->dlpi_name == NULL || !is_runtime(info->dlpi_name)) return 0;
    *(const char **)path = info->dlpi_name;
    return 1;
}

/* A pointer to data is none to a function, in C. */
static void find(void *handle, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, size);
}

/* One that was loaded after us, perhaps for a plug-in alone. It stays: we keep the handle. */
static rad_exceptions_getter look_among_loaded(void)
{
    const char *path = NULL;
    void *(*open)(const char *file, int mode) = NULL;
    rad_exceptions_getter getter = NULL;
    if (dlsym == NULL || dl_iterate_phdr(look_at_object, &path) == 0) return NULL;
    find(RTLD_DEFAULT, "dlopen", &open, sizeof open);
    void *handle = open != NULL ? open(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (handle != NULL) find(handle, "__cxa_get_globals", &getter, sizeof getter);
    return getter;
}

bool rad__exceptions_look(void)
{
    if (atomic_load_explicit(&rad__exceptions_getter, memory_order_relaxed) != NULL) return true;
    rad_exceptions_getter getter = __cxa_get_globals;
    if (getter == NULL) getter = look_among_loaded();
    if (getter == NULL) return false;
    atomic_store_explicit(&rad__exceptions_getter, getter, memory_order_relaxed);
    return true;
}
