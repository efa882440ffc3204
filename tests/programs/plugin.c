/* plugin.c — loads a library (itself, compiled with LIBRARY) when two fibers run in the other order. The library has a
 * destructor, which the program has not: it is called when the program ends, and aborts but for the word `fixed`. */
#include <stdlib.h>

#ifdef LIBRARY

__attribute__((destructor)) static void last(void)
{
    if (getenv("PLUGIN_IS_FIXED") == NULL) abort();
}

#else

#include "planted.h"

#include <dlfcn.h>

static bool other_way, first_ran;

static int one(void *arg)
{
    (void)arg;
    rad_yield();
    other_way = !first_ran;
    return 0;
}

static int two(void *arg)
{
    (void)arg;
    rad_yield();
    first_ran = true;
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    int code = both(two, one);
    if (other_way && dlopen("./plugin.so", RTLD_NOW) == NULL) abort();
    if (fixed) setenv("PLUGIN_IS_FIXED", "1", 1);
    return code;
}

#endif
