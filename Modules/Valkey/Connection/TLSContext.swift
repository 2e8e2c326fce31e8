#if SwiftOperationValkey
  internal import OperationLibSSL

  /// What the connections of one fleet with TLS have in common: the certificates, and the versions of the protocol.
  final class TLSContext: Sendable {
    // OpenSSL counts its references with atomics, and locks what connections change of it.
    nonisolated(unsafe) private let context: OpaquePointer
    private let serverName: String?

    /// Reads the certificates.
    ///
    /// - Parameters:
    ///   - settings: Where the certificates are.
    ///   - name: What messages call the server.
    /// - Throws: A ``ValkeyError`` that names the file which cannot be used.
    init(_ settings: ValkeyTLS, _ name: ServerName) throws(ValkeyError) {
      guard let context = SSL_CTX_new(TLS_client_method()) else {
        throw ValkeyError(code: .failed, message: "\(name) cannot be connected to: OpenSSL has no memory.")
      }
      self.context = context
      self.serverName = settings.serverName
      operation_ssl_set_rules(context)
      if let path = settings.certificateAuthorities {
        try Self.check(SSL_CTX_load_verify_locations(context, path, nil), "certificateAuthorities", path, name)
      } else {
        SSL_CTX_set_default_verify_paths(context)
      }
      if let path = settings.certificate {
        try Self.check(SSL_CTX_use_certificate_chain_file(context, path), "certificate", path, name)
        let keyPath = settings.privateKey ?? path
        try Self.check(SSL_CTX_use_PrivateKey_file(context, keyPath, SSL_FILETYPE_PEM), "privateKey", keyPath, name)
      }
    }

    deinit {
      SSL_CTX_free(self.context)
    }

    private static func check(
      _ status: CInt,
      _ setting: String,
      _ file: String,
      _ name: ServerName
    ) throws(ValkeyError) {
      if status == 1 { return ERR_clear_error() }
      let reason = TLSFailure.last().reason
      throw ValkeyError(
        code: .invalidConnection,
        message: """
          \(name) cannot be connected to: the file "\(file)" of `\(setting)` cannot be used: \(reason). Pass the path of a file \
          in PEM form that the program may read.
          """
      )
    }

    /// Begins a connection.
    ///
    /// - Parameter host: The name or the address of the host, which the certificate of the server has to have.
    /// - Returns: The connection, whose first bytes are there to be sent.
    /// - Throws: A ``TLSFailure``.
    func makeSession(host: String) throws(TLSFailure) -> TLSSession {
      try TLSSession(self.context, host: self.serverName ?? host)
    }
  }

  /// Why a connection with TLS has failed.
  struct TLSFailure: Error {
    let reason: String
    /// Whether the two sides did not accept each other, which no further attempt changes.
    var isRefusal = false

    /// The failure of the last call of OpenSSL by this thread.
    static func last() -> Self {
      let code = ERR_peek_last_error()
      ERR_clear_error()
      return Self(reason: ERR_reason_error_string(code).map { String(cString: $0) } ?? "OpenSSL does not know why")
    }
  }
#endif
