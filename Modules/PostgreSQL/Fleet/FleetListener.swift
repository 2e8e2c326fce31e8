#if SwiftOperationPostgreSQL
  internal import OperationCore
  internal import OperationEventLoop
  internal import OperationFleet

  /// The connection of a fleet that listens: it is opened with the first handler, and again whenever it is lost.
  ///
  /// The server keeps nothing for a listener that is away. So each new connection is a `missed` message.
  final class FleetListener: Sendable {
    private struct State: Sendable {
      var handlers = Handlers<FleetMessage>()
      var connection: DatabaseConnection?
      var isOpening = false
      var failureCount = 0
      /// Why there is no connection.
      var failure: PostgreSQLError?
      var timer: OperationSubscription?
      var isClosed = false
      var delivery = MessageQueue()
    }

    /// How often the connection is tried: a network that is cut does not close it.
    private static let heartbeat = Duration.seconds(5)

    private let opening: ConnectionOpening
    private let session: @Sendable (DatabaseConnection) -> SchemaSession
    private let statements: FleetStatements
    /// Whether the connection string is for this connection alone.
    private let hasOwnAddress: Bool
    private let timeout: Duration
    private let delay = ReconnectDelay()
    private let deadlines: any DeadlineSource
    private let state = Locked(State())

    init(
      _ opening: ConnectionOpening,
      schema: SchemaName,
      hasOwnAddress: Bool,
      timeout: Duration,
      deadlines: any DeadlineSource
    ) {
      self.opening = opening
      self.session = { SchemaSession(connection: $0, schema: schema, timeout: timeout) }
      self.statements = FleetStatements(schema)
      self.hasOwnAddress = hasOwnAddress
      self.timeout = timeout
      self.deadlines = deadlines
    }

    deinit {
      let (connection, timer) = self.state.withLock { ($0.connection, $0.timer) }
      timer?.cancel()
      connection?.close()
    }

    /// Calls a handler with the messages from now on.
    func add(_ handler: @escaping @Sendable (FleetMessage) -> Void) -> OperationSubscription {
      let id = self.state.withLock { $0.handlers.add(Handlers.Handler(handler)) }
      self.open()
      return OperationSubscription { [weak self] in
        self?.state.withLock { state, released in released.append(state.handlers.remove(id)) }
      }
    }

    /// Why nothing is heard; nil while there is a connection, and before the first attempt.
    var failure: PostgreSQLError? { self.state.withLock { $0.failure } }

    var isListening: Bool { self.state.withLock { $0.connection != nil } }

    func close() {
      let (connection, timer, handlers) = self.state.withLock { state in
        state.isClosed = true
        defer { state.handlers = Handlers() }
        return (state.connection.take(), state.timer.take(), state.handlers)
      }
      timer?.cancel()
      connection?.close()
      withExtendedLifetime(handlers) {}
    }
  }

  // MARK: - Connecting

  extension FleetListener {
    private func open() {
      let isFirst = self.state.withLock { state in
        if state.isClosed || state.isOpening || state.connection != nil || state.timer != nil { return false }
        state.isOpening = true
        return true
      }
      guard isFirst else { return }
      let (opening, session, statements, timeout) = (self.opening, self.session, self.statements, self.timeout)
      let hasOwnAddress = self.hasOwnAddress
      Task.detached { [weak self] in
        do throws(PostgreSQLError) {
          let connection = try await opening.open(within: timeout)
          do throws(PostgreSQLError) {
            try await session(connection).setUp()
            // In a session that others use, too, it would stay behind, and nothing would be heard.
            guard connection.ownsSession || hasOwnAddress else { throw .sharedListener("\(opening.name)") }
            connection.onEvent { [weak self, weak connection] event in self?.receive(event, of: connection) }
            _ = try await connection.perform(statements.listen, within: timeout)
            try await Self.check(connection, statements, within: timeout)
          } catch {
            connection.close()
            throw error
          }
          self?.didOpen(connection)
        } catch {
          self?.didFail(error)
        }
      }
    }

    private func didOpen(_ connection: DatabaseConnection) {
      let isUsed = self.state.withLock { state in
        state.isOpening = false
        if state.isClosed { return false }
        state.failureCount = 0
        state.failure = nil
        state.connection = connection
        return true
      }
      guard isUsed else { return connection.close() }
      self.deliver([.missed])
      // It may have been closed before the state knew it.
      if connection.isClosed { return self.didLose(connection) }
      self.setTimer(after: Self.heartbeat) { $0.beat(connection) }
    }

    private func didFail(_ error: PostgreSQLError) {
      let failureCount = self.state.withLock { state in
        state.isOpening = false
        state.failure = error
        state.failureCount += 1
        return state.failureCount
      }
      self.setTimer(after: self.delay(failureCount)) { $0.open() }
    }

    private func didLose(_ connection: DatabaseConnection) {
      let timer: OperationSubscription?? = self.state.withLock { state in
        guard state.connection === connection else { return nil }
        state.connection = nil
        return .some(state.timer.take())
      }
      guard let timer else { return }
      timer?.cancel()
      // At once: the server has often ended only this session.
      self.open()
    }

    /// Makes sure that the session of the connection is still the one that listens.
    private static func check(
      _ connection: DatabaseConnection,
      _ statements: FleetStatements,
      within timeout: Duration
    ) async throws(PostgreSQLError) {
      let rows = try await connection.perform(statements.isListening, within: timeout)
      if rows.first?.boolean(0) != true { throw .sharedListener("\(connection.name)") }
    }

    /// Makes a statement, for which the connection has to live.
    private func beat(_ connection: DatabaseConnection) {
      let (statements, timeout) = (self.statements, self.timeout)
      Task.detached { [weak self] in
        do throws(PostgreSQLError) {
          try await Self.check(connection, statements, within: timeout)
          self?.setTimer(after: Self.heartbeat) { $0.beat(connection) }
        } catch {
          self?.state.withLock { $0.failure = error }
          connection.close(error)
        }
      }
    }

    private func setTimer(after delay: Duration, _ body: @escaping @Sendable (FleetListener) -> Void) {
      let timer = self.deadlines.schedule(after: delay) { [weak self] in
        guard let self else { return }
        self.state.withLock { state, released in released.append(state.timer.take()) }
        body(self)
      }
      let isObsolete = self.state.withLock { state, released in
        if state.isClosed { return true }
        released.append(state.timer)
        state.timer = timer
        return false
      }
      if isObsolete { timer.cancel() }
    }
  }

  // MARK: - Messages

  extension FleetListener {
    private func receive(_ event: DatabaseConnection.Event, of connection: DatabaseConnection?) {
      switch event {
      case .free: break
      case .notification(_, let text):
        // A newer version of the library may have messages that this one does not know.
        if let message = FleetMessage(notification: text) { self.deliver([message]) }
      case .closed: if let connection { self.didLose(connection) }
      }
    }

    /// Calls the handlers, one message after the other.
    private func deliver(_ messages: [FleetMessage]) {
      guard self.state.withLock({ $0.delivery.add(messages) }) else { return }
      while let (message, handlers) = self.state.withLock({ state in
        state.delivery.next().map { ($0, state.handlers.all) }
      }) {
        for handler in handlers { handler.call(message) }
      }
    }
  }

  extension FleetMessage {
    /// Reads the text of a notification: `i` and an epoch, `s`, a revision and a key, or `r` and a key, in hexadecimal digits.
    init?(notification text: String) {
      let rest = text.dropFirst()
      switch text.first {
      case "i":
        guard let epoch = Int64(rest) else { return nil }
        self = .invalidated(FleetEpoch(rawValue: epoch))
      case "s":
        let parts = rest.split(separator: " ")
        guard parts.count == 2, let revision = Int64(parts[0]), let key = Self.key(parts[1]) else { return nil }
        self = .stored(key: key, revision: revision)
      case "r":
        guard let key = Self.key(rest) else { return nil }
        self = .released(key: key)
      default: return nil
      }
    }

    private static func key(_ digits: Substring) -> String? {
      let digits = Array(digits.utf8)
      guard digits.count.isMultiple(of: 2) else { return nil }
      var bytes: [UInt8] = []
      for place in stride(from: 0, to: digits.count, by: 2) {
        guard let byte = UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16) else {
          return nil
        }
        bytes.append(byte)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
