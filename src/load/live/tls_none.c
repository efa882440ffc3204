/* tls_none.c — this build has no OpenSSL. */
#include "base/error.h"
#include "load/live/tls.h"

int rad__live_tls_prepare(live *l, uint32_t target, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "target '%s': this raddle was built without OpenSSL",
                      l->scenario->targets[target].name);
}

void rad__live_tls_free(live *l, live_target *t)
{
    (void)l;
    (void)t;
}

void rad__live_tls_stop(live *l)
{
    (void)l;
}

void rad__live_tls_begin(live *l, uint32_t conn)
{
    rad__live_lost(l, conn, RAD__LOAD_TLS_HANDSHAKE);
}

void rad__live_tls_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    (void)bytes;
    (void)size;
    rad__live_lost(l, conn, RAD__LOAD_TLS_HANDSHAKE);
}

int64_t rad__live_tls_send(live *l, uint32_t conn, const void *bytes, uint32_t size)
{
    (void)l;
    (void)conn;
    (void)bytes;
    (void)size;
    return RAD_OS_ERROR;
}

void rad__live_tls_close(live_conn *c)
{
    (void)c;
}
