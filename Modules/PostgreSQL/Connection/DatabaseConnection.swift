#if SwiftOperationPostgreSQL
  internal import Dispatch
  internal import OperationCore
  internal import OperationEventLoop

  /// A connection to a server, which makes one statement at a time and occupies no thread while it waits.
  ///
  /// All calls of libpq are made under the lock: they do not block. What is called back is called after unlocking.
  final class DatabaseConnection: Sendable {
    typealias Outcome = AwaitedOutcome<Result<[QueryRow], PostgreSQLError>>

    /// What happens to a connection besides the outcomes of its statements.
    enum Event: Sendable {
      /// It has made its statement, and can make another one.
      case free
      /// The server has notified its listeners.
      case notification(channel: String, text: String)
      /// It was closed, by the server or because of an error.
      case closed(PostgreSQLError)
    }

    /// The statement that is being made.
    struct Command: Sendable {
      enum Stage: Sendable {
        case preparing(name: String)
        case executing
      }

      let statement: Statement
      let parameters: [QueryValue]
      let outcome: Outcome
      var stage = Stage.executing
      var result: Result<[QueryRow], PostgreSQLError> = .success([])
      /// Whether its caller has left, so that the server was asked to cancel it.
      var isAbandoned = false
    }

    struct State: Sendable {
      /// Nil when the connection is closed.
      var handle: ConnectionHandle?
      var command: Command?
      /// Whether the session of the server is this connection's own. A pooler gives it to others between transactions:
      /// then no name of a statement and no setting may stay in it.
      var ownsSession = false
      /// The names of the prepared statements.
      var prepared: [Statement: String] = [:]
      var reader: SocketWatch?
      var writer: SocketWatch?
      /// The statement for which a request to cancel may still reach the server.
      var cancelling: Outcome?
      /// Closes the connection if the server does not end a cancelled statement.
      var patience: OperationSubscription?
      var onEvent: (@Sendable (Event) -> Void)?
    }

    /// How long the server may take to end a statement that was cancelled, until the connection is closed.
    private static let patience = Duration.seconds(2)

    /// Sends requests to cancel, which blocks the thread.
    private static let cancelQueue = DispatchQueue(label: "swift-operation.postgresql-cancel", attributes: .concurrent)

    let name: ConnectionName
    let deadlines: any DeadlineSource
    let state: Locked<State>

    /// Takes over a handle that is connected.
    init(_ handle: ConnectionHandle, name: ConnectionName, deadlines: any DeadlineSource) {
      self.name = name
      self.deadlines = deadlines
      self.state = Locked(State(handle: handle))
      let reader = SocketWatch(handle.socket, isWriting: false) { [weak self] in self?.read() }
      self.state.withLock { $0.reader = reader }
    }

    deinit {
      let (handle, watches) = self.state.withLock { ($0.handle, [$0.reader, $0.writer]) }
      for watch in watches { watch?.cancel() }
      handle?.finish()
    }

    var isClosed: Bool { self.state.withLock { $0.handle == nil } }

    /// Whether no other client uses the session of the server: false until that is known.
    var ownsSession: Bool { self.state.withLock { $0.ownsSession } }

    /// Takes the process that has served a statement. It is another one than that of the connection behind a pooler.
    func noteServer(processID: Int64?) {
      self.state.withLock { $0.ownsSession = $0.handle.map { Int64($0.processID) } == processID }
    }

    /// Sets what is called for each event from now on, on any thread.
    func onEvent(_ body: @escaping @Sendable (Event) -> Void) {
      self.state.withLock { state, released in
        released.append(state.onEvent)
        state.onEvent = body
      }
    }

    /// Makes a statement. One at a time: the caller has the connection for itself.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - parameters: Its parameters.
    ///   - limit: How long it may take.
    ///   - isCancellable: Whether it ends when the task of the caller is cancelled.
    /// - Returns: The rows.
    /// - Throws: A ``PostgreSQLError``.
    nonisolated(nonsending) func perform(
      _ statement: Statement,
      _ parameters: [QueryValue] = [],
      within limit: Duration,
      isCancellable: Bool = true
    ) async throws(PostgreSQLError) -> [QueryRow] {
      let outcome = Outcome()
      let timer = self.deadlines.schedule(after: limit) { [weak self, name] in
        self?.abandon(outcome, .timedOut("\(name)", after: limit))
      }
      self.begin(Command(statement: statement, parameters: parameters, outcome: outcome))
      defer { timer.cancel() }
      guard isCancellable else { return try await outcome.value().get() }
      let result = await withTaskCancellationHandler {
        await outcome.value()
      } onCancel: {
        self.abandon(outcome, .cancelled())
      }
      return try result.get()
    }

    /// Ends the connection, and the statement that it makes.
    func close(_ error: PostgreSQLError? = nil) {
      let error = error ?? .closed("\(self.name)")
      self.state.withLock { $0.close(error) }.perform(self)
    }

    private func begin(_ command: Command) {
      self.state.withLock { $0.begin(command, self.name) }.perform(self)
    }

    /// Lets a caller go, and cancels its statement at the server.
    private func abandon(_ outcome: Outcome, _ error: PostgreSQLError) {
      outcome.decide(.failure(error))
      guard let cancellation = self.state.withLock({ $0.abandon(outcome) }) else { return }
      let timer = self.deadlines.schedule(after: Self.patience) { [weak self, name] in
        self?.closeIfAbandoned(outcome, .unavailable("\(name)", "it has not ended a cancelled statement"))
      }
      let isObsolete = self.state.withLock { state in
        let isWaiting = state.isWaiting(forEndOf: outcome)
        if isWaiting { state.patience = timer }
        return !isWaiting
      }
      if isObsolete { timer.cancel() }
      Self.cancelQueue.async { [weak self] in
        cancellation.send()
        self?.state.withLock { $0.didCancel() }.perform(self)
      }
    }

    private func closeIfAbandoned(_ outcome: Outcome, _ error: PostgreSQLError) {
      self.state.withLock { $0.isWaiting(forEndOf: outcome) ? $0.close(error) : Actions() }.perform(self)
    }
  }

  // MARK: - Events of the socket

  extension DatabaseConnection {
    private func read() {
      self.state.withLock { $0.read(self.name) }.perform(self)
    }

    fileprivate func write() {
      self.state.withLock { $0.write(self.name) }.perform(self)
    }

    /// Watches for the moment at which more can be written.
    fileprivate func startWriting() {
      guard let socket = self.state.withLock({ $0.handle?.socket }) else { return }
      let watch = SocketWatch(socket, isWriting: true) { [weak self] in self?.write() }
      let isObsolete = self.state.withLock { state in
        guard state.handle != nil, state.writer == nil else { return true }
        state.writer = watch
        return false
      }
      if isObsolete { watch.cancel() }
      // What waits may have been written before the watch was there.
      self.write()
    }
  }

  extension DatabaseConnection {
    /// What is done after the lock is released.
    struct Actions: Sendable {
      var outcome: (Outcome, Result<[QueryRow], PostgreSQLError>)?
      var events: [Event] = []
      var onEvent: (@Sendable (Event) -> Void)?
      var startsWriting = false
      var watches: [SocketWatch] = []
      var timer: OperationSubscription?
      /// The handle to finish, after its watches are cancelled.
      var handle: ConnectionHandle?

      func perform(_ connection: DatabaseConnection?) {
        for watch in self.watches { watch.cancel() }
        self.handle?.finish()
        self.timer?.cancel()
        if self.startsWriting { connection?.startWriting() }
        self.outcome?.0.decide(self.outcome?.1 ?? .success([]))
        for event in self.events { self.onEvent?(event) }
      }
    }
  }
#endif
