#if SwiftOperationPostgreSQL
  internal import OperationLibPQ

  /// A connection of libpq. Its owner calls it from one thread at a time, and finishes it once.
  struct ConnectionHandle: @unchecked Sendable {
    // Unchecked because the owner guards it: by its lock, or by being the only one that has it.

    private let pointer: OpaquePointer

    /// Begins to connect; nil if there is no memory.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq.
    ///   - replacements: The options that take the place of those of the string. Empty values do not.
    init?(connecting connection: String, replacing replacements: [(String, String)] = []) {
      // With `expand_dbname`, a connection string as the name of the database sets all that it names.
      let options =
        [("dbname", connection), ("fallback_application_name", "swift-operation"), ("client_encoding", "UTF8")]
        + replacements
      let strings = CStrings(options.map(\.0))
      let values = CStrings(options.map(\.1))
      guard let pointer = PQconnectStartParams(strings.pointers, values.pointers, 1) else { return nil }
      withExtendedLifetime((strings, values)) {}
      self.pointer = pointer
      // So that the message of a refused connection has its SQLSTATE, for which there is no other way.
      _ = PQsetErrorVerbosity(pointer, PQERRORS_VERBOSE)
      // Without it, libpq prints notices.
      _ = PQsetNoticeProcessor(pointer, { _, _ in }, nil)
    }

    /// Closes the connection. The handle must not be used any more.
    func finish() { PQfinish(self.pointer) }

    var isBroken: Bool { PQstatus(self.pointer) == CONNECTION_BAD }

    /// The process of the server that serves the connection, as the server, or a pooler in its place, has said.
    var processID: CInt { PQbackendPID(self.pointer) }

    var socket: CInt { PQsocket(self.pointer) }

    var message: String { PQerrorMessage(self.pointer).map { UnsafePointer($0) }.sentence }

    /// A step of connecting. It looks up the name of a host, for which it blocks its thread.
    func poll() -> PostgresPollingStatusType { PQconnectPoll(self.pointer) }

    /// Ends connecting: from now on, no call blocks.
    func didConnect() -> Bool {
      _ = PQsetErrorVerbosity(self.pointer, PQERRORS_DEFAULT)
      return PQsetnonblocking(self.pointer, 1) == 0
    }
  }

  // MARK: - Statements

  extension ConnectionHandle {
    /// Begins to prepare a statement under a name. False if the connection is broken.
    func prepare(_ statement: Statement, as name: String) -> Bool {
      let types = statement.types.map(\.rawValue)
      return PQsendPrepare(self.pointer, name, statement.sql, CInt(types.count), types) == 1
    }

    /// Begins to execute a prepared statement. False if the connection is broken.
    func execute(_ name: String, _ parameters: [QueryValue]) -> Bool {
      self.encoding(parameters) { count, values, lengths, formats in
        PQsendQueryPrepared(self.pointer, name, count, values, lengths, formats, 1) == 1
      }
    }

    /// Begins to execute a statement that leaves no name at the server. False if the connection is broken.
    func execute(unnamed statement: Statement, _ parameters: [QueryValue]) -> Bool {
      let types = statement.types.map(\.rawValue)
      return self.encoding(parameters) { count, values, lengths, formats in
        PQsendQueryParams(self.pointer, statement.sql, count, types, values, lengths, formats, 1) == 1
      }
    }

    private func encoding(
      _ parameters: [QueryValue],
      _ body: (CInt, [UnsafePointer<CChar>?], [CInt], [CInt]) -> Bool
    ) -> Bool {
      let encoded = parameters.map(\.encoded)
      // An empty value needs an address, which null does not have.
      let buffers = encoded.map { bytes in
        bytes.map { bytes in
          let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: max(1, bytes.count))
          _ = UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, from: bytes)
          return buffer
        }
      }
      defer { for buffer in buffers { buffer?.deallocate() } }
      let values = buffers.map { UnsafePointer($0?.baseAddress) }
      let lengths = encoded.map { CInt(clamping: $0?.count ?? 0) }
      let formats = [CInt](repeating: 1, count: encoded.count)
      return body(CInt(encoded.count), values, lengths, formats)
    }

    /// Begins to make statements without parameters, separated by semicolons, in one transaction.
    func execute(script: String) -> Bool { PQsendQuery(self.pointer, script) == 1 }

    /// Writes what waits; nil if the connection is broken, otherwise whether more has to be written.
    func flush() -> Bool? {
      switch PQflush(self.pointer) {
      case 0: false
      case 1: true
      default: nil
      }
    }

    /// Reads what has arrived. False if the connection is broken.
    func consumeInput() -> Bool { PQconsumeInput(self.pointer) == 1 }

    /// Whether the next result has not arrived yet.
    var isBusy: Bool { PQisBusy(self.pointer) == 1 }

    /// The next result; nil at the end of a statement.
    func nextResult() -> OpaquePointer? { PQgetResult(self.pointer) }

    /// The text of the next notification that has arrived, and whose channel it is.
    func nextNotification() -> (channel: String, text: String)? {
      guard let notification = PQnotifies(self.pointer) else { return nil }
      defer { PQfreemem(notification) }
      return (String(cString: notification.pointee.relname), String(cString: notification.pointee.extra))
    }

    /// What cancels the current statement from another thread.
    func cancellation() -> StatementCancellation? { PQgetCancel(self.pointer).map(StatementCancellation.init) }
  }

  /// Asks the server to cancel the current statement of a connection.
  final class StatementCancellation: @unchecked Sendable {
    // Unchecked because libpq lets any thread use it, and it is freed with its last reference.

    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
      self.pointer = pointer
    }

    deinit {
      PQfreeCancel(self.pointer)
    }

    /// Sends the request and waits until the server has passed it on. It blocks its thread.
    func send() {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        _ = PQcancel(self.pointer, buffer.baseAddress, CInt(buffer.count))
      }
    }
  }

  /// Strings of C with a null pointer at their end.
  private final class CStrings {
    let pointers: [UnsafePointer<CChar>?]
    private let buffers: [UnsafeMutableBufferPointer<CChar>]

    init(_ strings: [String]) {
      self.buffers = strings.map { string in
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.utf8.count + 1)
        _ = buffer.initialize(from: string.utf8CString)
        return buffer
      }
      self.pointers = self.buffers.map { UnsafePointer($0.baseAddress) } + [nil]
    }

    deinit {
      for buffer in self.buffers { buffer.deallocate() }
    }
  }
#endif
