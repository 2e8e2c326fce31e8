#if SwiftOperationValkey
  internal import OperationLibSSL

  /// The encryption of one connection. Bytes go in and come out; it reads from no socket, and writes to none.
  ///
  /// The lock of the connection guards it.
  final class TLSSession: Sendable {
    // Used with the lock of the connection held.
    nonisolated(unsafe) private let session: OpaquePointer
    nonisolated(unsafe) private let (received, output): (OpaquePointer, OpaquePointer)
    // As above: what is sent before both sides have agreed; nil from then on.
    nonisolated(unsafe) private var waiting: [UInt8]? = []

    /// - Parameters:
    ///   - context: The certificates.
    ///   - host: The name or the address that the certificate of the server has to have.
    /// - Throws: A ``TLSFailure``.
    init(_ context: OpaquePointer, host: String) throws(TLSFailure) {
      guard let session = SSL_new(context), let received = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
      else {
        throw TLSFailure(reason: "OpenSSL has no memory")
      }
      (self.session, self.received, self.output) = (session, received, output)
      // The session owns both from here on.
      SSL_set_bio(session, received, output)
      SSL_set_connect_state(session)
      // An address is in other fields of a certificate than a name, and is not sent to choose a certificate by.
      if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1 {
        guard SSL_set1_host(session, host) == 1 else { throw .last() }
        operation_ssl_send_name(session, host)
      }
      try self.shakeHands()
    }

    deinit {
      SSL_free(self.session)
    }

    /// Encrypts bytes, or keeps them until both sides have agreed.
    func send(_ bytes: [UInt8]) {
      if self.waiting == nil { self.encrypt(bytes) } else { self.waiting? += bytes }
    }

    /// Takes the encrypted bytes that are to be sent.
    func takeOutput() -> [UInt8] {
      let count = BIO_ctrl_pending(self.output)
      if count == 0 { return [] }
      return Array(unsafeUninitializedCapacity: count) { buffer, count in
        count = max(0, Int(BIO_read(self.output, buffer.baseAddress, CInt(clamping: buffer.count))))
      }
    }

    /// Decrypts bytes that have arrived.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - take: Takes a part of what they contain.
    /// - Returns: Whether the other side has ended the connection.
    /// - Throws: A ``TLSFailure``.
    func receive(
      _ bytes: UnsafeMutableRawBufferPointer,
      _ take: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(TLSFailure) -> Bool {
      BIO_write(self.received, bytes.baseAddress, CInt(clamping: bytes.count))
      if self.waiting != nil { try self.shakeHands() }
      if self.waiting != nil { return false }
      return try self.decrypt(take)
    }

    private func shakeHands() throws(TLSFailure) {
      ERR_clear_error()
      let status = SSL_do_handshake(self.session)
      if status == 1 {
        let bytes = self.waiting ?? []
        self.waiting = nil
        return self.encrypt(bytes)
      }
      if SSL_get_error(self.session, status) == SSL_ERROR_WANT_READ { return ERR_clear_error() }
      throw self.failure()
    }

    private func encrypt(_ bytes: [UInt8]) {
      // All of it is taken: the memory that it is written to grows, and there is one agreement for each connection.
      if !bytes.isEmpty { SSL_write(self.session, bytes, CInt(clamping: bytes.count)) }
    }

    private func decrypt(_ take: (UnsafeMutableRawBufferPointer) -> Void) throws(TLSFailure) -> Bool {
      // What one record of the protocol contains at most.
      try withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer throws(TLSFailure) in
        while true {
          ERR_clear_error()
          let count = SSL_read(self.session, buffer.baseAddress, CInt(buffer.count))
          if count > 0 {
            take(UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)]))
            continue
          }
          switch SSL_get_error(self.session, count) {
          case SSL_ERROR_WANT_READ:
            ERR_clear_error()
            return false
          case SSL_ERROR_ZERO_RETURN: return true
          default: throw self.failure()
          }
        }
      }
    }

    private func failure() -> TLSFailure {
      let verified = SSL_get_verify_result(self.session)
      if verified != Int(X509_V_OK) {
        ERR_clear_error()
        let reason = X509_verify_cert_error_string(verified).map { String(cString: $0) } ?? "it cannot be verified"
        return TLSFailure(reason: "its certificate is not accepted: \(reason)", isRefusal: true)
      }
      let isRefusal = operation_ssl_is_refusal(self.waiting == nil ? 1 : 0) != 0
      var failure = TLSFailure.last()
      failure.isRefusal = isRefusal
      return failure
    }
  }
#endif
