/* build_info.c — what this build is: the only file that knows the commit, so that a new one compiles
 * one file. */
#include <raddle/lab.h>

#if defined(__has_include)
#if __has_include("raddle_build.h")
#include "raddle_build.h"
#endif
#endif

/* Compiled by hand, without Meson. */
#ifndef RAD_BUILD_VERSION
#define RAD_BUILD_VERSION "0.1.0"
#endif
#ifndef RAD_BUILD_COMMIT
#define RAD_BUILD_COMMIT "unknown"
#endif
#ifndef RAD_BUILD_COMPILER
#define RAD_BUILD_COMPILER __VERSION__
#endif

const char *rad_version(void)
{
    return RAD_BUILD_VERSION;
}

const char *rad_build_git_sha(void)
{
    return RAD_BUILD_COMMIT;
}

const char *rad_build_compiler(void)
{
    return RAD_BUILD_COMPILER;
}
