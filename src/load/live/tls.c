#include "load/live/tls.h"

#include "base/alloc.h"
#include "base/error.h"
#include "load/live/openssl.h"

#include <errno.h>
#include <string.h>

enum {
    PLAIN_BYTES = 16 << 10,  /* the largest record */
    SENT_BYTES = 4 << 10,    /* and of those that we send: OpenSSL 3.0 keeps a buffer of that size for ever */
    UNASKED_BYTES = 64 << 10 /* handshakes, alerts: no server needs more of them from one connection */
};

/* What OpenSSL reads from and writes to: one for all connections, for they take turns. */
struct live_tls {
    BIO_METHOD *method;
    const uint8_t *in;
    size_t in_size;
    rad_bytes out;
    uint8_t plain[PLAIN_BYTES];
};

/* ---- The bottom of OpenSSL --------------------------------------------------------------------------------- */

static int bottom_read(BIO *bio, char *to, int size)
{
    live_tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (size <= 0) return 0;
    size_t n = t->in_size < (size_t)size ? t->in_size : (size_t)size;
    if (n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, t->in, n);
    t->in += n;
    t->in_size -= n;
    return (int)n;
}

static int bottom_write(BIO *bio, const char *from, int size)
{
    live_tls *t = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    rad__bytes_put(&t->out, from, size > 0 ? (size_t)size : 0);
    return t->out.failed ? -1 : size;
}

static long bottom_control(BIO *bio, int what, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

static int tls_start(live *l, rad_error *error)
{
    if (l->tls) return 0;
    int code = rad__openssl_open(error);
    if (code != 0) return code;
    l->tls = rad__alloc(1, sizeof *l->tls);
    if (l->tls == NULL) return rad__error_memory(error);
    l->tls->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "raddle");
    if (l->tls->method == NULL || BIO_meth_set_read(l->tls->method, bottom_read) != 1 ||
        BIO_meth_set_write(l->tls->method, bottom_write) != 1 || BIO_meth_set_ctrl(l->tls->method, bottom_control) != 1)
        return rad__error_memory(error);
    return 0;
}

void rad__live_tls_stop(live *l)
{
    if (l->tls == NULL) return;
    BIO_meth_free(l->tls->method);
    rad__bytes_free(&l->tls->out);
    rad__free(l->tls);
    l->tls = NULL;
}

/* ---- Targets ----------------------------------------------------------------------------------------------- */

static const char *tls_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "unknown reason";
}

int rad__live_tls_prepare(live *l, uint32_t target, rad_error *error)
{
    static const unsigned char h1[] = "\x08http/1.1", h2[] = "\x02h2";
    const struct rad__load_target *t = &l->scenario->targets[target];
    int code = tls_start(l, error);
    if (code != 0) return code;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context == NULL) return rad__error_memory(error);
    l->targets[target].tls = context;
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_max_send_fragment(context, SENT_BYTES);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_alpn_protos(context, t->http2 ? h2 : h1, t->http2 ? sizeof h2 - 1 : sizeof h1 - 1) != 0)
        return rad__error(error, RAD_EIO, "target '%s': TLS: %s", t->name, tls_reason());
    if (!t->verify) return 0;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    ERR_clear_error();
    if (t->ca_bundle ? SSL_CTX_load_verify_file(context, t->ca_bundle) != 1
                     : SSL_CTX_set_default_verify_paths(context) != 1)
        return rad__error(error, RAD_EINPUT, "target '%s': %s: no certificates can be read (%s)", t->name,
                          t->ca_bundle ? t->ca_bundle : "the system's", tls_reason());
    return 0;
}

void rad__live_tls_free(live *l, live_target *t)
{
    (void)l;
    SSL_CTX_free(t->tls);
    t->tls = NULL;
}

/* ---- Connections ------------------------------------------------------------------------------------------- */

/* The name the certificate has to carry, which is also the one that is asked for. */
static bool tls_name(SSL *ssl, const char *host)
{
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1) return true;
    ERR_clear_error();
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

/* What OpenSSL wants to say to the other side. */
static int64_t tls_flush(live *l, uint32_t conn)
{
    rad_bytes *out = &l->tls->out;
    int64_t answer = 0;
    if (out->failed) {
        rad__bytes_free(out);
        return RAD_OS_ERROR - ENOMEM;
    }
    if (out->size > 0) answer = l->transport->send(l, conn, out->data, out->size, false);
    out->size = 0;
    return answer;
}

/* What OpenSSL says by itself has an end: the other side may ask for it again and again, and not read it. */
static bool tls_may_answer(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    c->unasked += l->tls->out.size;
    return c->unasked <= UNASKED_BYTES;
}

static enum rad__load_fault tls_fault(const SSL *ssl)
{
    if (SSL_get_verify_result(ssl) != X509_V_OK) return RAD__LOAD_CERTIFICATE;
    if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL) return RAD__LOAD_ALPN;
    return RAD__LOAD_TLS_HANDSHAKE;
}

/* Goes on with the handshake. False: there is nothing more to do with this connection now. */
static bool tls_shake(live *l, uint32_t conn)
{
    SSL *ssl = l->conns[conn].tls;
    ERR_clear_error();
    int result = SSL_do_handshake(ssl);
    int why = result == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, result);
    enum rad__load_fault fault = why == SSL_ERROR_NONE || why == SSL_ERROR_WANT_READ ? RAD__LOAD_OK : tls_fault(ssl);
    if (!tls_may_answer(l, conn)) fault = RAD__LOAD_TLS_HANDSHAKE;
    int64_t sent = tls_flush(l, conn);
    if (fault != RAD__LOAD_OK) {
        rad__live_lost(l, conn, fault);
        return false;
    }
    if (sent < 0) {
        rad__live_broken(l, conn, sent);
        return false;
    }
    if (why == SSL_ERROR_WANT_READ) return false;
    const unsigned char *chosen;
    unsigned size;
    SSL_get0_alpn_selected(ssl, &chosen, &size);
    if (l->scenario->targets[l->conns[conn].target].http2 && (size != 2 || memcmp(chosen, "h2", 2) != 0)) {
        rad__live_lost(l, conn, RAD__LOAD_ALPN);
        return false;
    }
    uint32_t generation = l->conns[conn].generation;
    rad__live_ready(l, conn);
    return l->conns[conn].generation == generation;
}

void rad__live_tls_begin(live *l, uint32_t conn)
{
    live_conn *c = &l->conns[conn];
    const live_target *t = &l->targets[c->target];
    SSL *ssl = SSL_new(t->tls);
    BIO *bio = ssl ? BIO_new(l->tls->method) : NULL;
    c->tls = ssl;
    if (bio == NULL || !tls_name(ssl, t->host)) {
        BIO_free(bio);
        rad__live_lost(l, conn, RAD__LOAD_NO_DESCRIPTORS);
        return;
    }
    BIO_set_data(bio, l->tls);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_connect_state(ssl);
    c->unasked = 0;
    l->tls->in_size = 0;
    tls_shake(l, conn);
}

void rad__live_tls_received(live *l, uint32_t conn, const uint8_t *bytes, size_t size)
{
    uint32_t generation = l->conns[conn].generation;
    l->tls->in = bytes;
    l->tls->in_size = size;
    if (l->conns[conn].state == LIVE_SHAKING && !tls_shake(l, conn)) return;
    for (;;) {
        SSL *ssl = l->conns[conn].tls;
        ERR_clear_error();
        int got = SSL_read(ssl, l->tls->plain, PLAIN_BYTES);
        if (got > 0) {
            rad__live_plain(l, conn, l->tls->plain, (size_t)got);
            if (l->conns[conn].generation != generation) return;
            continue;
        }
        int why = SSL_get_error(ssl, got);
        bool may = tls_may_answer(l, conn); /* it may have to say something, too */
        int64_t sent = tls_flush(l, conn);
        if (sent < 0)
            rad__live_broken(l, conn, sent);
        else if (!may)
            rad__live_lost(l, conn, RAD__LOAD_TLS_HANDSHAKE);
        else if (why == SSL_ERROR_ZERO_RETURN)
            rad__live_plain_ended(l, conn);
        else if (why != SSL_ERROR_WANT_READ)
            rad__live_lost(l, conn, RAD__LOAD_TLS_HANDSHAKE);
        return;
    }
}

int64_t rad__live_tls_send(live *l, uint32_t conn, const void *bytes, uint32_t size)
{
    SSL *ssl = l->conns[conn].tls;
    ERR_clear_error();
    int put = SSL_write(ssl, bytes, (int)size);
    if (put != (int)size) {
        l->tls->out.size = 0;
        return RAD_OS_ERROR - EIO;
    }
    return tls_flush(l, conn);
}

void rad__live_tls_close(live_conn *c)
{
    SSL_free(c->tls);
    c->tls = NULL;
}
