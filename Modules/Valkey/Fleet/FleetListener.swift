#if SwiftOperationValkey
  internal import OperationCore
  internal import OperationEventLoop
  internal import OperationFleet

  /// The connection of a fleet that hears messages: it is opened with the first handler, and again whenever it is lost.
  ///
  /// The server keeps nothing for a listener that is away. So each new connection is a `missed` message.
  final class FleetListener: Sendable {
    private struct State: Sendable {
      var handlers = Handlers<FleetMessage>()
      var connection: ServerConnection?
      var isOpening = false
      var failureCount = 0
      /// Why there is no connection.
      var failure: ValkeyError?
      var timer: OperationSubscription?
      var isClosed = false
      var delivery = MessageQueue()
    }

    /// How often the connection is tried: a network that is cut does not close it.
    private static let heartbeat = Duration.seconds(5)

    private let opening: ConnectionOpening
    private let channel: String
    private let timeout: Duration
    private let delay = ReconnectDelay()
    private let deadlines: any DeadlineSource
    private let state = Locked(State())

    init(_ opening: ConnectionOpening, channel: String, timeout: Duration, deadlines: any DeadlineSource) {
      self.opening = opening
      self.channel = channel
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
    var failure: ValkeyError? { self.state.withLock { $0.failure } }

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
      let (opening, channel, timeout) = (self.opening, self.channel, self.timeout)
      Task.detached { [weak self] in
        do throws(ValkeyError) {
          let connection = try await opening.open(within: timeout)
          do throws(ValkeyError) {
            connection.onEvent { [weak self, weak connection] event in self?.receive(event, of: connection) }
            let reply = try await connection.perform(Request("SUBSCRIBE", channel), within: timeout)
            if case .error(let text) = reply { throw ValkeyError(reply: text, connection.name) }
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

    private func didOpen(_ connection: ServerConnection) {
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

    private func didFail(_ error: ValkeyError) {
      let failureCount = self.state.withLock { state in
        state.isOpening = false
        state.failure = error
        state.failureCount += 1
        return state.failureCount
      }
      self.setTimer(after: self.delay(failureCount)) { $0.open() }
    }

    private func didLose(_ connection: ServerConnection) {
      let timer: OperationSubscription?? = self.state.withLock { state in
        guard state.connection === connection else { return nil }
        state.connection = nil
        return .some(state.timer.take())
      }
      guard let timer else { return }
      timer?.cancel()
      // At once: the server has often closed only this connection.
      self.open()
    }

    /// Asks for an answer, without which the connection closes itself.
    private func beat(_ connection: ServerConnection) {
      let timeout = self.timeout
      Task.detached { [weak self] in
        do throws(ValkeyError) {
          _ = try await connection.perform(Request("PING"), within: timeout)
          self?.setTimer(after: Self.heartbeat) { $0.beat(connection) }
        } catch {
          self?.state.withLock { $0.failure = error }
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
    private func receive(_ event: ServerConnection.Event, of connection: ServerConnection?) {
      switch event {
      case .message(let elements):
        // A newer version of the library may have messages that this one does not know.
        if elements.count == 3, elements[0].text == "message", let text = elements[2].text,
          let message = FleetMessage(text: text)
        {
          self.deliver([message])
        }
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
#endif
