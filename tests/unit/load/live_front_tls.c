#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_front.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_in here(uint32_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static int listen_somewhere(uint32_t *port)
{
    struct sockaddr_in a = here(0);
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 500) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

static X509 *make_certificate(EVP_PKEY *key, const char *name)
{
    X509 *x = X509_new();
    X509V3_CTX context;
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -1000);
    X509_gmtime_adj(X509_getm_notAfter(x), 100000);
    X509_set_version(x, 2);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)"raddle test", -1,
                               -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509V3_set_ctx(&context, x, x, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, NID_subject_alt_name, name);
    assert_non_null(extension);
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    return x;
}

static int choose(SSL *ssl, const unsigned char **out, unsigned char *size, const unsigned char *in, unsigned in_size,
                  void *wanted)
{
    const char *alpn = wanted;
    (void)ssl;
    for (unsigned i = 0; i < in_size; i += in[i] + 1u)
        if (in[i] == strlen(alpn) && memcmp(in + i + 1, alpn, in[i]) == 0) {
            *out = in + i + 1;
            *size = in[i];
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_NOACK;
}

/* Bytes from one side to the other, until one of them ends. */
static void pass_on(SSL *ssl, int front, int back)
{
    static char bytes[65536];
    for (;;) {
        struct pollfd p[] = {{front, POLLIN, 0}, {back, POLLIN, 0}};
        if (SSL_pending(ssl) == 0 && poll(p, 2, -1) < 0) return;
        if (SSL_pending(ssl) > 0 || p[0].revents) {
            int got = SSL_read(ssl, bytes, sizeof bytes);
            if (got <= 0) return;
            for (ssize_t put = 0, n; put < got; put += n)
                if ((n = send(back, bytes + put, (size_t)(got - put), MSG_NOSIGNAL)) <= 0) return;
        }
        if (p[1].revents) {
            ssize_t got = read(back, bytes, sizeof bytes);
            if (got <= 0) {
                SSL_shutdown(ssl);
                return;
            }
            if (SSL_write(ssl, bytes, (int)got) <= 0) return;
        }
    }
}

/* Asks for another handshake, for ever, and hears nothing of what it is answered. */
static void renegotiate(SSL *ssl)
{
    while (SSL_renegotiate(ssl) == 1 && SSL_do_handshake(ssl) == 1) usleep(20);
}

static void serve_one(SSL_CTX *context, int front, uint32_t to_port)
{
    struct sockaddr_in a = here(to_port);
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, front);
    int back = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(front, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(back, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (to_port == 0 && SSL_accept(ssl) == 1) renegotiate(ssl);
    if (SSL_accept(ssl) == 1 && connect(back, (struct sockaddr *)&a, sizeof a) == 0) pass_on(ssl, front, back);
}

static void serve(SSL_CTX *context, int listener, uint32_t to_port)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int front = accept(listener, NULL, NULL);
        if (front < 0 || context == NULL) continue; /* silent */
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            serve_one(context, front, to_port);
            _exit(0);
        }
        close(front);
    }
}

void live_front_open(live_front *f, uint32_t to_port, const char *name, const char *alpn)
{
    int listener = listen_somewhere(&f->port);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    assert_non_null(key);
    X509 *x = make_certificate(key, name);
    snprintf(f->certificate, sizeof f->certificate, "live-front-XXXXXX");
    int fd = mkstemp(f->certificate);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    assert_int_equal(PEM_write_X509(file, x), 1);
    assert_int_equal(fclose(file), 0);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(context, x), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, key), 1);
    SSL_CTX_set_alpn_select_cb(context, choose, (void *)alpn);
    if (strcmp(alpn, "renegotiate") == 0) {
        SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
        to_port = 0;
    }
    f->process = fork();
    assert_true(f->process >= 0);
    if (f->process == 0) serve(strcmp(alpn, "silent") == 0 ? NULL : context, listener, to_port);
    close(listener);
    SSL_CTX_free(context);
    X509_free(x);
    EVP_PKEY_free(key);
}

void live_front_close(live_front *f)
{
    kill(f->process, SIGKILL);
    waitpid(f->process, NULL, 0);
    if (f->certificate[0]) unlink(f->certificate);
}
