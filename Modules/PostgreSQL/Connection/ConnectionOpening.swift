#if SwiftOperationPostgreSQL
  internal import Dispatch
  internal import OperationCore
  internal import OperationLibPQ

  /// Opens connections to one server.
  final class ConnectionOpening: Sendable {
    let name: ConnectionName
    private let connection: String
    private let deadlines: any DeadlineSource
    /// The thread that looks up names of hosts, for which libpq blocks.
    private let queue = DispatchQueue(label: "swift-operation.postgresql-connecting")

    /// - Parameters:
    ///   - connection: A connection string of libpq.
    ///   - deadlines: The source of time limits.
    /// - Throws: A ``PostgreSQLError`` if it cannot be read.
    init(_ connection: String, deadlines: any DeadlineSource) throws(PostgreSQLError) {
      self.connection = connection
      self.name = try ConnectionName(connection)
      self.deadlines = deadlines
    }

    /// Connects to the server.
    ///
    /// - Parameter limit: How long it may take.
    /// - Returns: A connection that can make statements.
    /// - Throws: A ``PostgreSQLError``.
    nonisolated(nonsending) func open(within limit: Duration) async throws(PostgreSQLError) -> DatabaseConnection {
      let end = self.deadlines.elapsed + limit
      let started = await self.perform { [connection = self.connection] in ConnectionHandle(connecting: connection) }
      guard let handle = started else { throw .unavailable("\(self.name)", "there is no memory") }
      do {
        try await self.finish(connecting: handle, until: end)
      } catch {
        handle.finish()
        throw error
      }
      return DatabaseConnection(handle, name: self.name, deadlines: self.deadlines)
    }

    private nonisolated(nonsending) func finish(
      connecting handle: ConnectionHandle,
      until end: Duration
    ) async throws(PostgreSQLError) {
      if handle.isBroken { throw self.refusal(handle) }
      var isWriting = true
      while true {
        // The socket may be another one after each step.
        guard await self.isReady(handle.socket, isWriting: isWriting, until: end) else {
          throw .unavailable("\(self.name)", "it has not answered in time")
        }
        switch await self.perform({ handle.poll() }) {
        case PGRES_POLLING_OK:
          guard handle.didConnect() else { throw self.refusal(handle) }
          return
        case PGRES_POLLING_READING: isWriting = false
        case PGRES_POLLING_WRITING: isWriting = true
        default: throw self.refusal(handle)
        }
      }
    }

    private nonisolated(nonsending) func isReady(_ socket: CInt, isWriting: Bool, until end: Duration) async -> Bool {
      // While libpq has no socket, it has a next step.
      if socket < 0 { return true }
      let outcome = AwaitedOutcome<Bool>()
      let timer = self.deadlines.schedule(after: end - self.deadlines.elapsed) { outcome.decide(false) }
      let watch = SocketWatch(socket, isWriting: isWriting) { outcome.decide(true) }
      let isReady = await outcome.value()
      watch.cancel()
      timer.cancel()
      return isReady
    }

    private nonisolated(nonsending) func perform<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
      await withUnsafeContinuation { continuation in
        self.queue.async { continuation.resume(returning: body()) }
      }
    }

    /// The error of a connection that was not established: libpq has its SQLSTATE only in the verbose message.
    private func refusal(_ handle: ConnectionHandle) -> PostgreSQLError {
      let message = handle.message
      // "…: FATAL:  28P01: password authentication failed for user "app"; LOCATION:  …"
      let parts = message.split(separator: ": ", omittingEmptySubsequences: true).map { $0.drop { $0 == " " } }
      for (index, part) in parts.enumerated().dropFirst() where Self.isSQLState(part) {
        let text = parts[(index + 1)...].joined(separator: ": ")
        let reason = text.split(separator: "; LOCATION").first.map(String.init) ?? text
        return PostgreSQLError(sqlState: String(part), reason, self.name)
      }
      return .unavailable("\(self.name)", message)
    }

    private static func isSQLState(_ text: Substring) -> Bool {
      text.utf8.count == 5 && text.contains { $0.isNumber }
        && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }
  }
#endif
