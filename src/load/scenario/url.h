/* url.h — where a target is: http or https, a host, a port, a path that goes before the paths of requests. */
#ifndef RAD_LOAD_SCENARIO_URL_H
#define RAD_LOAD_SCENARIO_URL_H

#include "base/arena.h"

typedef struct rad__load_url {
    const char *host;      /* IPv6 without brackets */
    const char *port;      /* digits: what the scheme means when there are none */
    const char *base_path; /* begins with a slash and does not end with one, or is empty */
    bool tls;
} rad__load_url;

/* NULL, or what was expected; NULL with arena->failed: memory ran out. Texts live in the arena. */
RAD_INTERNAL const char *rad__load_url_parse(rad__load_url *url, const char *text, rad_arena *arena);

#endif
