#if SwiftOperationValkey
  internal import OperationCore
  internal import OperationEventLoop

  /// A connection to a server: requests are sent as they come, and the replies come in their order. It occupies no thread.
  ///
  /// Sending and receiving do not block, and are done under the lock. What is called back is called after unlocking.
  final class ServerConnection: Sendable {
    typealias Outcome = AwaitedOutcome<Result<Reply, ValkeyError>>

    /// What happens to a connection besides the replies to requests.
    enum Event: Sendable {
      case message([Reply])
      /// It was closed, by the server or because of an error.
      case closed(ValkeyError)
    }

    fileprivate struct State: Sendable {
      /// Nil when the connection is closed.
      var socket: ServerSocket?
      /// Nil without TLS.
      var tls: TLSSession?
      var reader = ReplyReader()
      var requests = SerialQueue<PendingRequest>()
      var output: [UInt8] = []
      /// How much of the output was sent.
      var sent = 0
      var readWatch: SocketWatch?
      var writeWatch: SocketWatch?
      /// Looks whether the first request has waited for too long.
      var watchdog: OperationSubscription?
      var isWatched = false
      /// Whether it is closed as soon as no request waits.
      var isRetired = false
      var error: ValkeyError?
      var onEvent: (@Sendable (Event) -> Void)?
    }

    /// How many requests wait at most; more of them would only fail later.
    private static let maximumRequests = 10_000

    let name: ServerName
    private let deadlines: any DeadlineSource
    private let state: Locked<State>

    /// Takes over a socket that is connected.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - tls: The encryption of what is sent and received; nil for none.
    ///   - name: What messages call the server.
    ///   - deadlines: The source of time limits.
    init(_ socket: ServerSocket, _ tls: TLSSession? = nil, name: ServerName, deadlines: any DeadlineSource) {
      self.name = name
      self.deadlines = deadlines
      self.state = Locked(State(socket: socket, tls: tls))
      let watch = SocketWatch(socket.descriptor, isWriting: false) { [weak self] in self?.read() }
      self.state.withLock { $0.readWatch = watch }
    }

    deinit {
      // The watches first: they use the socket.
      let (watches, watchdog) = self.state.withLock { ([$0.readWatch, $0.writeWatch], $0.watchdog) }
      for watch in watches { watch?.cancel() }
      watchdog?.cancel()
    }

    var isClosed: Bool { self.state.withLock { $0.socket == nil } }

    /// The number of requests whose replies have not arrived.
    var requestCount: Int { self.state.withLock { $0.requests.count } }

    /// Sets what is called for each event from now on, on any thread.
    func onEvent(_ body: @escaping @Sendable (Event) -> Void) {
      self.state.withLock { state, released in
        released.append(state.onEvent)
        state.onEvent = body
      }
    }

    /// Sends a request, and waits for its reply. A cancelled caller leaves, and the reply is dropped.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - limit: How long the reply may take. Without it, the connection is closed.
    /// - Returns: The reply, which may be an error of the server.
    /// - Throws: A ``ValkeyError`` if the connection is closed.
    nonisolated(nonsending) func perform(
      _ request: Request,
      within limit: Duration
    ) async throws(ValkeyError) -> Reply {
      let outcome = Outcome()
      self.begin(request, outcome, within: limit)
      return try await outcome.value(cancelled: .failure(.cancelled())).get()
    }

    /// Ends the connection as soon as the requests that wait have their replies.
    func retire() {
      self.change { [name = self.name] state, actions in
        state.isRetired = true
        state.closeIfDone(name, &actions)
      }
    }

    /// Ends the connection, and the requests that wait.
    func close(_ error: ValkeyError? = nil) {
      let error = error ?? .closed(self.name)
      self.change { $0.close(error, &$1) }
    }
  }

  // MARK: - Requests

  extension ServerConnection {
    private func begin(_ request: Request, _ outcome: Outcome, within limit: Duration) {
      let bytes = request.encoded
      let now = self.deadlines.elapsed
      self.change { [name = self.name] state, actions in
        guard let socket = state.socket else {
          return actions.outcomes.append((outcome, .failure(state.error ?? .lost(name, "it was closed"))))
        }
        guard state.requests.count < Self.maximumRequests else {
          return actions.outcomes.append((outcome, .failure(.tooManyRequests(name, Self.maximumRequests))))
        }
        state.requests.append(PendingRequest(outcome: outcome, end: now + limit.clampedForClock, limit: limit))
        if let tls = state.tls { tls.send(bytes) } else { state.output += bytes }
        if state.writeWatch == nil { state.write(to: socket, name, &actions) }
        if !state.isWatched {
          state.isWatched = true
          actions.watchdog = limit
        }
      }
    }

    /// Closes the connection if its first request has waited for too long.
    private func lookAtFirstRequest() {
      let now = self.deadlines.elapsed
      self.change { [name = self.name] state, actions in
        state.isWatched = false
        guard state.socket != nil, let first = state.requests.first else { return }
        if first.end <= now { return state.close(.timedOut(name, after: first.limit), &actions) }
        state.isWatched = true
        actions.watchdog = first.end - now
      }
    }

    private func setWatchdog(after delay: Duration) {
      let timer = self.deadlines.schedule(after: delay) { [weak self] in self?.lookAtFirstRequest() }
      let obsolete = self.state.withLock { state -> OperationSubscription? in
        guard state.socket != nil else { return timer }
        defer { state.watchdog = timer }
        return state.watchdog
      }
      obsolete?.cancel()
    }
  }

  // MARK: - Events of the socket

  extension ServerConnection {
    /// How much is read at a time, and how often before other sockets have their turn.
    private static let pieceSize = 65_536
    private static let maximumPieces = 16

    private func read() {
      self.change { [name = self.name] state, actions in
        guard let socket = state.socket else { return }
        withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) { buffer in
          for _ in 0..<Self.maximumPieces {
            switch socket.read(into: buffer) {
            case .nothingYet: return
            case .end(let reason): return state.close(.lost(name, reason), &actions)
            case .bytes(let count):
              state.take(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), from: socket, name, &actions)
              if state.socket == nil || count < buffer.count { return }
            }
          }
        }
      }
    }

    private func write() {
      self.change { [name = self.name] state, actions in
        if let socket = state.socket { state.write(to: socket, name, &actions) }
      }
    }

    /// Watches for the moment at which more can be sent.
    private func startWriting() {
      guard let socket = self.state.withLock({ $0.socket }) else { return }
      let watch = SocketWatch(socket.descriptor, isWriting: true) { [weak self] in self?.write() }
      let isObsolete = self.state.withLock { state in
        guard state.socket != nil, state.writeWatch == nil else { return true }
        state.writeWatch = watch
        return false
      }
      if isObsolete { watch.cancel() }
      // What waits may have been sent before the watch was there.
      self.write()
    }
  }

  extension ServerConnection.State {
    /// Takes what has arrived.
    mutating func take(
      _ bytes: UnsafeMutableRawBufferPointer,
      from socket: ServerSocket,
      _ name: ServerName,
      _ actions: inout ServerConnection.Actions
    ) {
      guard let tls = self.tls else {
        self.reader.append(bytes)
        return self.takeReplies(name, &actions)
      }
      do throws(TLSFailure) {
        let isEnd = try tls.receive(bytes) { self.reader.append($0) }
        self.takeReplies(name, &actions)
        // Both sides may have agreed just now, or the other one wants other keys.
        if self.socket != nil, self.writeWatch == nil { self.write(to: socket, name, &actions) }
        if isEnd { self.close(.lost(name, "the other side has ended it"), &actions) }
      } catch {
        self.close(error.isRefusal ? .untrusted(name, error) : .lost(name, error.reason), &actions)
      }
    }

    mutating func write(to socket: ServerSocket, _ name: ServerName, _ actions: inout ServerConnection.Actions) {
      if let tls = self.tls { self.output += tls.takeOutput() }
      while self.sent < self.output.count {
        switch socket.write(self.output[self.sent...]) {
        case .bytes(let count): self.sent += count
        case .nothingYet:
          actions.startsWriting = self.writeWatch == nil
          return
        case .end(let reason): return self.close(.lost(name, reason), &actions)
        }
      }
      self.output.removeAll(keepingCapacity: self.output.capacity <= 1 << 20)
      self.sent = 0
      if let watch = self.writeWatch.take() { actions.watches.append(watch) }
    }

    mutating func takeReplies(_ name: ServerName, _ actions: inout ServerConnection.Actions) {
      do throws(ReplyError) {
        while let reply = try self.reader.next() {
          // The answer to a subscription comes as a message.
          if case .push(let elements) = reply, elements.first?.text != "subscribe" {
            actions.events.append(.message(elements))
            continue
          }
          guard let request = self.requests.popFirst() else {
            // Only one that closes the connection says something without having been asked, in an error.
            let text = if case .error(let text) = reply { text } else { "ERR a reply to no request" }
            return self.close(ValkeyError(reply: text, name), &actions)
          }
          actions.outcomes.append((request.outcome, .success(reply)))
        }
        if !actions.events.isEmpty { actions.onEvent = self.onEvent }
        self.closeIfDone(name, &actions)
      } catch {
        self.close(.damaged(name, error), &actions)
      }
    }

    /// Closes a connection that is old when nothing waits for it. A call that comes too late is made on another one.
    mutating func closeIfDone(_ name: ServerName, _ actions: inout ServerConnection.Actions) {
      if self.isRetired, self.requests.isEmpty { self.close(.lost(name, "it was used for long enough"), &actions) }
    }

    mutating func close(_ error: ValkeyError, _ actions: inout ServerConnection.Actions) {
      guard let socket = self.socket.take() else { return }
      self.error = error
      actions.socket = socket
      actions.watches += [self.readWatch.take(), self.writeWatch.take()].compactMap { $0 }
      actions.timer = self.watchdog.take()
      while let request = self.requests.popFirst() { actions.outcomes.append((request.outcome, .failure(error))) }
      actions.events.append(.closed(error))
      actions.onEvent = self.onEvent.take()
      (self.output, self.sent, self.reader) = ([], 0, ReplyReader())
    }
  }

  extension ServerConnection {
    /// What is done after the lock is released.
    fileprivate struct Actions: Sendable {
      var outcomes: [(Outcome, Result<Reply, ValkeyError>)] = []
      var events: [Event] = []
      var onEvent: (@Sendable (Event) -> Void)?
      var startsWriting = false
      var watchdog: Duration?
      var watches: [SocketWatch] = []
      var timer: OperationSubscription?
      /// Is closed when it is released, after its watches are cancelled.
      var socket: ServerSocket?
    }

    private func change(_ body: (inout State, inout Actions) -> Void) {
      let actions = self.state.withLock { state in
        var actions = Actions()
        body(&state, &actions)
        return actions
      }
      for watch in actions.watches { watch.cancel() }
      actions.timer?.cancel()
      if actions.startsWriting { self.startWriting() }
      if let delay = actions.watchdog { self.setWatchdog(after: delay) }
      for (outcome, result) in actions.outcomes { outcome.decide(result) }
      for event in actions.events { actions.onEvent?(event) }
    }
  }

  /// A request whose reply has not arrived.
  private struct PendingRequest: Sendable {
    let outcome: ServerConnection.Outcome
    /// When the reply has to be there.
    let end: Duration
    let limit: Duration
  }

  extension ValkeyError {
    fileprivate static func tooManyRequests(_ name: ServerName, _ count: Int) -> Self {
      Self(
        code: .busy,
        message: "\(name) has \(count) calls that wait. Limit the calls, or look for slow ones in `SLOWLOG GET`."
      )
    }
  }
#endif
