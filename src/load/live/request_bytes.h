/* request_bytes.h — a request to a target, ready to be filled in: HTTP/1.1 bytes, or the fields of HTTP/2.
 *
 * What has no placeholder is put together once: most requests are sent straight out of the plan, without a copy. */
#ifndef RAD_LOAD_LIVE_REQUEST_BYTES_H
#define RAD_LOAD_LIVE_REQUEST_BYTES_H

#include "load/live/jar.h"
#include "load/live/template.h"

/* A header of HTTP/2: its name is in lower case. */
typedef struct rad__load_pair {
    rad__load_text name, value;
} rad__load_pair;

typedef struct rad__load_plan {
    /* HTTP/1.1: the first line; the others, up to the value of Content-Length when that is not known yet. */
    rad__load_text line, head;
    rad__load_text body;
    rad_bytes ready;       /* HTTP/1.1 without placeholders: all of it */
    rad__load_pair *pairs; /* HTTP/2 */
    uint32_t pair_count;
    bool has_body;
    bool wants_cookies; /* the user's cookies are to be added (it names none itself) */
    bool is_head;       /* the answer has no body */
    bool is_ready;
    uint8_t keep; /* of the answer: RAD__LOAD_KEEP_… */
} rad__load_plan;

/* 0, RAD_ENOMEM, or RAD_EINPUT: "request 'x', header 'y': …". Free it in any case. */
RAD_INTERNAL int rad__load_plan_make(rad__load_plan *plan, const rad__load_scenario *scenario,
                                     const struct rad__load_request *request, const struct rad__load_target *target,
                                     const char *(*env)(const char *name), rad_error *error);
RAD_INTERNAL void rad__load_plan_free(rad__load_plan *plan);

/* Whose cookies are sent along, and to whom. */
typedef struct rad__load_cookies {
    rad__load_jar *jar; /* NULL: none */
    const char *host;
    bool tls;
    uint64_t now_ns;
} rad__load_cookies;

/* HTTP/1.1 with placeholders or cookies: appends the request. */
RAD_INTERNAL enum rad__load_fault rad__load_plan_put(const rad__load_plan *plan, rad__load_fill *fill,
                                                     const rad__load_cookies *cookies, rad_bytes *to);

/* Where its answers come from, as far as it is known without placeholders. `host` is the caller's. */
RAD_INTERNAL rad__load_site rad__load_plan_site(const rad__load_plan *plan, const char *host, bool tls);

#endif
