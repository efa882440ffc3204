/* http1_parse.h — reads HTTP/1.1 responses, from pieces of any size. The grammar is llhttp's; added are limits,
 * exact sizes, what ends a body, what becomes of the connection, and a fault with a name for whatever is wrong.
 *
 * The result does not depend on how the bytes were cut into pieces (fuzz_http1). One response at a time: bytes after
 * its end are not read, and it is for the caller to be surprised by them.
 *
 * 1xx        skipped, their headers do not count; 101 is a fault, for nobody asked to switch
 * no body    answers to HEAD, 204 and 304, whatever their headers say
 * until end  neither length nor chunks: the end of the connection ends the body
 * trailers   read, counted, not kept */
#ifndef RAD_LOAD_LIVE_HTTP1_PARSE_H
#define RAD_LOAD_LIVE_HTTP1_PARSE_H

#include "load/live/answer.h"

#include <llhttp.h>

typedef struct rad__load_http1 {
    llhttp_t parser;
    rad__load_answers *shared;
    rad__load_answer answer;
    uint32_t extra_bytes; /* of trailers and chunk extensions */
    bool head;            /* the request was HEAD */
    bool in_name;         /* a piece of a header's name came, and more may */
    bool in_body;         /* the headers are complete */
    bool complete, keeps_alive;
    bool fresh; /* nothing was read yet, and nothing is to be kept */
} rad__load_http1;

enum rad__load_http1_state {
    RAD__LOAD_HTTP1_MORE, /* all was read, and more has to come */
    RAD__LOAD_HTTP1_DONE, /* see answer, keeps_alive; *used bytes were read */
    RAD__LOAD_HTTP1_FAULT /* see answer.fault */
};

/* Gets ready for the response to a request. What the last one borrowed has been dropped. */
RAD_INTERNAL void rad__load_http1_begin(rad__load_http1 *h, rad__load_answers *shared, uint8_t keep, bool head);
RAD_INTERNAL enum rad__load_http1_state rad__load_http1_feed(rad__load_http1 *h, const void *data, size_t size,
                                                             size_t *used);

/* Reads a response that is whole and plain without llhttp (http1_whole.c). False: it is not, and nothing was read. */
RAD_INTERNAL bool rad__load_http1_whole(rad__load_http1 *h, const char *data, size_t size, size_t *used);

/* The other side has sent all it will. */
RAD_INTERNAL enum rad__load_http1_state rad__load_http1_finish(rad__load_http1 *h);

#endif
