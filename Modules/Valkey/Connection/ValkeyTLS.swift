#if SwiftOperationValkey
  /// Whom the connections of a ``ValkeyFleet`` with TLS trust, and as whom they present themselves.
  ///
  /// ```swift
  /// let tls = ValkeyTLS(certificateAuthorities: "/etc/valkey/ca.pem")
  /// let fleet = try ValkeyFleet(connection: "rediss://cache.example:6379", tls: tls)
  /// ```
  ///
  /// The certificate of the server is verified in any case, with the name of its host.
  public struct ValkeyTLS: Hashable, Sendable {
    /// The path of a file with the certificates that sign that of the server, in PEM form; nil for those of the system.
    public var certificateAuthorities: String?

    /// The path of a file with the certificate of this program and those that sign it, in PEM form; nil for none.
    ///
    /// A server that asks for one refuses programs without.
    public var certificate: String?

    /// The path of a file with the private key of ``certificate``, in PEM form, without a password.
    public var privateKey: String?

    /// The name that the certificate of the server has to have; nil for the host of the connection string.
    public var serverName: String?

    /// Makes settings for connections with TLS.
    ///
    /// - Parameters:
    ///   - certificateAuthorities: The path of a file with the certificates that sign that of the server; nil for those of
    ///     the system.
    ///   - certificate: The path of a file with the certificate of this program; nil for none.
    ///   - privateKey: The path of a file with its private key.
    ///   - serverName: The name that the certificate of the server has to have; nil for the host of the connection string.
    public init(
      certificateAuthorities: String? = nil,
      certificate: String? = nil,
      privateKey: String? = nil,
      serverName: String? = nil
    ) {
      self.certificateAuthorities = certificateAuthorities
      self.certificate = certificate
      self.privateKey = privateKey
      self.serverName = serverName
    }
  }
#endif
