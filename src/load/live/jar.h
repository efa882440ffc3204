/* jar.h — the cookies of one user, as RFC 6265 has it, with three simplifications: Max-Age counts in the time of
 * the run; Expires only tells whether a cookie is to be thrown away at once (servers do that with a date long
 * past), for a run has no date; and without a Path the folder of the request is taken from the part of its path
 * that has no placeholders. There are few of them in a jar, so it is searched from end to end. */
#ifndef RAD_LOAD_LIVE_JAR_H
#define RAD_LOAD_LIVE_JAR_H

#include "base/bytes.h"

enum { RAD__LOAD_COOKIES_MAX = 50, RAD__LOAD_COOKIE_BYTES_MAX = 4096 };

typedef struct rad__load_cookie {
    char *name;                   /* then value, domain and path, each with its end: one piece of memory */
    uint32_t value, domain, path; /* where they begin in it */
    bool host_only, secure;
    uint64_t expires_ns;
} rad__load_cookie;

/* All zero: empty. */
typedef struct rad__load_jar {
    rad__load_cookie *cookies; /* the oldest first */
    uint32_t count, capacity;
} rad__load_jar;

/* To whom, or from whom. */
typedef struct rad__load_site {
    const char *host, *path;
    uint32_t path_size;
    bool tls;
} rad__load_site;

/* The value of a Set-Cookie header. What is not to be kept is not kept. False: memory ran out. */
RAD_INTERNAL bool rad__load_jar_take(rad__load_jar *jar, const char *text, size_t size, const rad__load_site *site,
                                     uint64_t now_ns);

/* Appends "a=b; c=d": those that are for this site. Longer paths first, then older ones. */
RAD_INTERNAL void rad__load_jar_put(rad__load_jar *jar, const rad__load_site *site, uint64_t now_ns, rad_bytes *to);
RAD_INTERNAL void rad__load_jar_free(rad__load_jar *jar);

/* Name and value at the beginning of a Set-Cookie header; false: it has none. */
RAD_INTERNAL bool rad__load_cookie_pair(const char *text, size_t size, size_t *name_size, const char **value,
                                        size_t *value_size);

#endif
