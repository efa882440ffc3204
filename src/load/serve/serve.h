/* serve.h — a small HTTP/1.1 server to try load on: as fast, as slow and as wrong as one likes.
 *
 * Whatever is asked for, the answer is 200 with a body of the wanted size; /echo, /json, /cookie, /chunked, … answer as
 * they are called, and with `misbehave` some paths do what no server should (paths.c lists them). One
 * thread, which the caller lends: rad__load_serve_run returns when *stop is not 0. Meant for the machine it runs on:
 * the default host is 127.0.0.1. */
#ifndef RAD_LOAD_SERVE_SERVE_H
#define RAD_LOAD_SERVE_SERVE_H

#include "load/scenario/scenario.h"

typedef struct rad__load_serve_options {
    const char *host, *port;           /* NULL: 127.0.0.1, and any port */
    struct rad__load_curve latency;    /* no points: at once */
    uint32_t error_ppm;                /* answered with 503 */
    uint64_t stall_every_ns, stall_ns; /* nothing is answered in the last stall_ns of each stall_every_ns */
    uint32_t body_bytes;
    uint32_t requests_per_connection; /* 0: any number */
    bool misbehave;
    uint64_t seed;
} rad__load_serve_options;

typedef struct rad__load_serve rad__load_serve;

/* RAD_EIO: it cannot listen there. */
RAD_INTERNAL int rad__load_serve_open(rad__load_serve **serve, const rad__load_serve_options *o, rad_error *error);
RAD_INTERNAL uint32_t rad__load_serve_port(const rad__load_serve *serve);
RAD_INTERNAL uint64_t rad__load_serve_count(const rad__load_serve *serve); /* requests so far */
RAD_INTERNAL int rad__load_serve_run(rad__load_serve *serve, const volatile int *stop, rad_error *error);
RAD_INTERNAL void rad__load_serve_close(rad__load_serve *serve);

#endif
