#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// What OpenSSL has as macros, which Swift does not see.

/// Verifies the other side, from version 1.2 of TLS on, with one agreement for each connection.
static inline void operation_ssl_set_rules(SSL_CTX *context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
}

/// Sends the name of the server, by which one with several certificates chooses.
static inline void operation_ssl_send_name(SSL *session, const char *name) {
  SSL_set_tlsext_host_name(session, name);
}
