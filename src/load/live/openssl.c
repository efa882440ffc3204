/* openssl.c — see openssl.h. */
#define RAD_OPENSSL_BY_NAME
#include "load/live/openssl.h"

#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libssl.so.3" /* it brings libcrypto, and its interface is that of OpenSSL 3 */

rad_openssl rad__openssl;

static bool find(void *library, const char *name, void *call)
{
    void *found = dlsym(library, name);
    memcpy(call, &found, sizeof found);
    return found != NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT; /* shards begin side by side */
static const char *lacks;                       /* NULL: nothing */

static void load(void)
{
    bool all = true;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    lacks = "cannot be loaded";
    if (library == NULL) return;
#define CALL_FIND(name) all &= find(library, #name, &rad__openssl.name);
    RAD_OPENSSL_CALLS(CALL_FIND)
#undef CALL_FIND
    lacks = all ? NULL : "is not complete";
}

int rad__openssl_open(rad_error *error)
{
    pthread_once(&once, load);
    if (lacks == NULL) return 0;
    return rad__error(error, RAD_EIO, "TLS needs " LIBRARY " (OpenSSL 3), which %s", lacks);
}
