/* request.h — a request as the server sees it, and what it will do about it. */
#ifndef RAD_LOAD_SERVE_REQUEST_H
#define RAD_LOAD_SERVE_REQUEST_H

#include "base/bytes.h"
#include "load/serve/serve.h"

typedef struct serve_request {
    const char *method, *path; /* not ended by a zero */
    uint32_t method_size, path_size;
    const char *head, *body;
    uint32_t head_size, body_size; /* head: with the empty line */
    uint64_t number;               /* of all requests */
} serve_request;

enum serve_then {
    SERVE_GOES_ON,
    SERVE_CLOSES,
    SERVE_RESETS,
    SERVE_STALLS, /* for ever */
    SERVE_REPEATS /* sends `again` for ever */
};

typedef struct serve_answer {
    rad_bytes *to;
    enum serve_then then;
    uint64_t delay_ns; /* before its first byte */
    uint32_t piece;    /* bytes sent at a time; 0: all */
    uint64_t piece_ns; /* and the time between */
    const char *again;
} serve_answer;

/* True: the path is a special one: /echo, /json, … or, with `misbehave`, one that does what no server should. */
RAD_INTERNAL bool rad__serve_special(const serve_request *r, serve_answer *a, bool misbehave);

/* A usual answer. */
RAD_INTERNAL void rad__serve_plain(rad_bytes *to, uint32_t status, const char *headers, const void *body,
                                   uint32_t size);

/* The value of a header, not ended by a zero; NULL: none. */
RAD_INTERNAL const char *rad__serve_header(const serve_request *r, const char *name, uint32_t *size);

#endif
