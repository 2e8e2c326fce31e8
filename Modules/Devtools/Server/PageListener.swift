#if SwiftOperationDevtools
  internal import Dispatch
  internal import OperationCore

  /// Takes the connections to a port of the loopback interface, on a thread that is none of the program's own.
  ///
  /// A request without the token causes no work elsewhere, and there only in bounded time and space.
  final class PageListener: @unchecked Sendable {
    // Unchecked because the variables are only accessed on the queue.

    struct Limits: Sendable {
      /// The largest number of connections at once. Each is a descriptor, of which the process must not run out: on Linux, Dispatch
      /// ends one that has none left, because it reads files about its threads.
      var connections = 64
      /// How long a request may take to arrive.
      var requestTime = Duration.seconds(10)
      /// How long nothing can be sent before the page counts as gone.
      var sendTime = Duration.seconds(30)
      /// How long the other side is heard after the answer.
      var drainTime = Duration.seconds(2)
      /// The pause after a connection that could not be taken, because descriptors have run out.
      var pause = Duration.milliseconds(100)
      /// The largest number of bytes that are thrown away behind a request.
      static let excess = 4 << 20
    }

    let queue = DispatchQueue(label: "swift-operation.devtools")
    let port: UInt16
    let limits: Limits
    let deadlines: any DeadlineSource
    let answers: PageAnswers
    private let accepting: PageSocket.Accepting
    /// Is entered by each socket until it is closed.
    private let sockets = DispatchGroup()
    private var socket: PageSocket?
    private var arriving: (any DispatchSourceRead)?
    private var isPaused = false
    private var retry: OperationSubscription?
    /// Oldest first.
    private var connections: [PageConnection] = []

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - port: The port; 0 for one that is free.
    ///   - limits: The limits.
    ///   - deadlines: Where the times of the limits come from.
    ///   - accepting: Takes the connections.
    ///   - answers: Makes the answers for the port that it got.
    /// - Throws: An error if the port cannot be listened at.
    init(
      port: UInt16,
      limits: Limits,
      deadlines: any DeadlineSource,
      accepting: @escaping PageSocket.Accepting,
      answers: (_ port: UInt16) -> PageAnswers
    ) throws(DevtoolsError) {
      let socket = try PageSocket(listeningAt: port, in: self.sockets)
      self.port = socket.port
      self.limits = limits
      self.deadlines = deadlines
      self.accepting = accepting
      self.answers = answers(self.port)
      self.socket = socket
      let arriving = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: self.queue)
      arriving.setEventHandler { [weak self] in self?.accept() }
      arriving.setCancelHandler { withExtendedLifetime(socket) {} }
      self.arriving = arriving
      arriving.activate()
    }

    /// Ends the connections and stops listening, soon.
    func close() {
      self.queue.async { self.end() }
    }

    /// Ends the connections and stops listening, and waits until nothing is open any more.
    func closed() async {
      await withCheckedContinuation { continuation in
        self.queue.async {
          self.end()
          self.sockets.notify(queue: self.queue) { continuation.resume() }
        }
      }
    }

    private func end() {
      guard let arriving = self.arriving.take() else { return }
      self.retry?.cancel()
      self.retry = nil
      // A source that is suspended is never told that it is cancelled.
      if self.isPaused { arriving.resume() }
      arriving.cancel()
      self.socket?.end()
      self.socket = nil
      for connection in self.connections { connection.end() }
    }

    // MARK: - Connections

    /// Takes the connections that wait. It is called again while some do.
    private func accept() {
      guard self.connections.count < self.limits.connections || self.endIdleConnection() else { return self.pause() }
      while self.connections.count < self.limits.connections, let socket {
        switch socket.accept(in: self.sockets, by: self.accepting) {
        case .socket(let socket):
          let connection = PageConnection(socket, of: self)
          self.connections.append(connection)
          connection.begin()
        case .noConnection: return
        case .noRoom:
          self.endIdleConnection()
          return self.pause()
        }
      }
    }

    /// Ends the connection that has taken longest to send its request.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    private func endIdleConnection() -> Bool {
      guard let connection = self.connections.first(where: \.isReading) else { return false }
      connection.end()
      return true
    }

    /// Takes no connection until one has ended, or some time has passed: the system would tell of those that wait without end.
    private func pause() {
      if self.isPaused { return }
      self.isPaused = true
      self.arriving?.suspend()
      self.retry = self.deadlines.schedule(after: self.limits.pause) { [weak self] in
        self?.queue.async { [weak self] in self?.resume() }
      }
    }

    private func resume() {
      guard self.isPaused, let arriving else { return }
      self.isPaused = false
      self.retry?.cancel()
      self.retry = nil
      arriving.resume()
    }

    func hasEnded(_ connection: PageConnection) {
      self.connections.removeAll { $0 === connection }
      self.resume()
    }
  }
#endif
