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

/// Whether the last error of this thread is that the two sides do not accept each other. Others are of a connection that is damaged.
static inline int operation_ssl_is_refusal(int has_agreed) {
  int reason = ERR_GET_REASON(ERR_peek_last_error());
  // The alerts of the other side are above this number.
  switch (reason - SSL_AD_REASON_OFFSET) {
  case SSL_AD_HANDSHAKE_FAILURE:
  case SSL_AD_BAD_CERTIFICATE:
  case SSL_AD_UNSUPPORTED_CERTIFICATE:
  case SSL_AD_CERTIFICATE_REVOKED:
  case SSL_AD_CERTIFICATE_EXPIRED:
  case SSL_AD_CERTIFICATE_UNKNOWN:
  case SSL_AD_UNKNOWN_CA:
  case SSL_AD_ACCESS_DENIED:
  case SSL_AD_CERTIFICATE_REQUIRED:
    return 1;
  case SSL_AD_BAD_RECORD_MAC:
    return 0;
  default:
    // From TLS 1.3 on a server looks at the certificate of the program after that has agreed, so that only its alerts refuse then.
    return !has_agreed && reason != SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC;
  }
}
