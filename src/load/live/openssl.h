/* openssl.h — OpenSSL, loaded when the first target with TLS is made ready.
 *
 * The loader takes more CPU time for it than for everything else that raddle needs, and few commands talk to a server.
 * The names below are pointers, so that code which calls OpenSSL looks as it does everywhere; types and macros are
 * those of its headers. */
#ifndef RAD_LOAD_LIVE_OPENSSL_H
#define RAD_LOAD_LIVE_OPENSSL_H

#include "base/check.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// clang-format off
#define RAD_OPENSSL_CALLS(CALL) \
    CALL(BIO_clear_flags) CALL(BIO_free) CALL(BIO_get_data) CALL(BIO_get_new_index) \
    CALL(BIO_meth_free) CALL(BIO_meth_new) CALL(BIO_meth_set_ctrl) CALL(BIO_meth_set_read) \
    CALL(BIO_meth_set_write) CALL(BIO_new) CALL(BIO_set_data) CALL(BIO_set_flags) \
    CALL(BIO_set_init) CALL(ERR_clear_error) CALL(ERR_peek_last_error) \
    CALL(ERR_reason_error_string) CALL(SSL_CTX_ctrl) CALL(SSL_CTX_free) \
    CALL(SSL_CTX_load_verify_file) CALL(SSL_CTX_new) CALL(SSL_CTX_set_alpn_protos) \
    CALL(SSL_CTX_set_default_verify_paths) CALL(SSL_CTX_set_options) CALL(SSL_CTX_set_verify) \
    CALL(SSL_ctrl) CALL(SSL_do_handshake) CALL(SSL_free) CALL(SSL_get0_alpn_selected) \
    CALL(SSL_get0_param) CALL(SSL_get_error) CALL(SSL_get_verify_result) CALL(SSL_new) \
    CALL(SSL_read) CALL(SSL_set1_host) CALL(SSL_set_bio) CALL(SSL_set_connect_state) \
    CALL(SSL_write) CALL(TLS_client_method) CALL(X509_VERIFY_PARAM_set1_ip_asc)
// clang-format on

#define RAD_OPENSSL_POINTER(name) __typeof__(name) *name;
typedef struct rad_openssl {
    RAD_OPENSSL_CALLS(RAD_OPENSSL_POINTER)
} rad_openssl;

RAD_INTERNAL extern rad_openssl rad__openssl;

/* Any number of times. RAD_EIO says which library is missing. */
RAD_INTERNAL int rad__openssl_open(rad_error *error);

#ifndef RAD_OPENSSL_BY_NAME /* openssl.c itself */
#define BIO_clear_flags                  rad__openssl.BIO_clear_flags
#define BIO_free                         rad__openssl.BIO_free
#define BIO_get_data                     rad__openssl.BIO_get_data
#define BIO_get_new_index                rad__openssl.BIO_get_new_index
#define BIO_meth_free                    rad__openssl.BIO_meth_free
#define BIO_meth_new                     rad__openssl.BIO_meth_new
#define BIO_meth_set_ctrl                rad__openssl.BIO_meth_set_ctrl
#define BIO_meth_set_read                rad__openssl.BIO_meth_set_read
#define BIO_meth_set_write               rad__openssl.BIO_meth_set_write
#define BIO_new                          rad__openssl.BIO_new
#define BIO_set_data                     rad__openssl.BIO_set_data
#define BIO_set_flags                    rad__openssl.BIO_set_flags
#define BIO_set_init                     rad__openssl.BIO_set_init
#define ERR_clear_error                  rad__openssl.ERR_clear_error
#define ERR_peek_last_error              rad__openssl.ERR_peek_last_error
#define ERR_reason_error_string          rad__openssl.ERR_reason_error_string
#define SSL_CTX_ctrl                     rad__openssl.SSL_CTX_ctrl
#define SSL_CTX_free                     rad__openssl.SSL_CTX_free
#define SSL_CTX_load_verify_file         rad__openssl.SSL_CTX_load_verify_file
#define SSL_CTX_new                      rad__openssl.SSL_CTX_new
#define SSL_CTX_set_alpn_protos          rad__openssl.SSL_CTX_set_alpn_protos
#define SSL_CTX_set_default_verify_paths rad__openssl.SSL_CTX_set_default_verify_paths
#define SSL_CTX_set_options              rad__openssl.SSL_CTX_set_options
#define SSL_CTX_set_verify               rad__openssl.SSL_CTX_set_verify
#define SSL_ctrl                         rad__openssl.SSL_ctrl
#define SSL_do_handshake                 rad__openssl.SSL_do_handshake
#define SSL_free                         rad__openssl.SSL_free
#define SSL_get0_alpn_selected           rad__openssl.SSL_get0_alpn_selected
#define SSL_get0_param                   rad__openssl.SSL_get0_param
#define SSL_get_error                    rad__openssl.SSL_get_error
#define SSL_get_verify_result            rad__openssl.SSL_get_verify_result
#define SSL_new                          rad__openssl.SSL_new
#define SSL_read                         rad__openssl.SSL_read
#define SSL_set1_host                    rad__openssl.SSL_set1_host
#define SSL_set_bio                      rad__openssl.SSL_set_bio
#define SSL_set_connect_state            rad__openssl.SSL_set_connect_state
#define SSL_write                        rad__openssl.SSL_write
#define TLS_client_method                rad__openssl.TLS_client_method
#define X509_VERIFY_PARAM_set1_ip_asc    rad__openssl.X509_VERIFY_PARAM_set1_ip_asc
#endif

#endif
