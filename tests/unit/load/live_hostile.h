/* live_hostile.h — servers that mean harm: whoever asks them for anything is sent the same thing for ever. */
#ifndef LIVE_HOSTILE_H
#define LIVE_HOSTILE_H

#include "live_front.h"

#include <stdbool.h>

enum live_hostility {
    /* HTTP/2, as fast as it is read */
    HOSTILE_PING,
    HOSTILE_PING_ACK,
    HOSTILE_SETTINGS,
    HOSTILE_DATA, /* beyond all windows */
    HOSTILE_EMPTY_DATA,
    HOSTILE_CONTINUATION, /* empty ones, of headers that never end */
    HOSTILE_WINDOW_UPDATE,
    HOSTILE_PRIORITY,
    HOSTILE_UNKNOWN_FRAME,
    HOSTILE_INTERIM_HEADERS, /* 100, 100, 100, … */
    HOSTILE_HEADER_BOMB,     /* a byte for each header of 4 KB */
    HOSTILE_DEAF_PING,       /* a few at a time, and the answers are not read */
    HOSTILE_NO_STREAMS,      /* is silent, after it has said that there may be no stream at all */
    /* HTTP/1.1 */
    HOSTILE_HEADERS,
    HOSTILE_BODY,
    HOSTILE_INTERIM,
    HOSTILE_TRICKLE, /* a good response, whose header never ends, byte by byte */
    HOSTILE_COUNT
};

static inline bool live_hostile_is_http2(enum live_hostility kind)
{
    return kind < HOSTILE_HEADERS;
}

/* The front's certificate is "". live_front_close ends it. */
void live_hostile_open(live_front *f, enum live_hostility kind);

#endif
