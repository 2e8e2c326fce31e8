#if SwiftOperationDevtools
  internal import OperationCore
  internal import OperationPlatform

  /// Serves the page and the messages of a feed: started once, and stopped as a whole.
  actor PageServer {
    private enum Phase: Sendable {
      case idle
      case serving(PageListener, address: String)
      /// Its connections are ending.
      case stopping(PageListener)

      var listener: PageListener? {
        switch self {
        case .idle: nil
        case .serving(let listener, _), .stopping(let listener): listener
        }
      }
    }

    private let feed: any Feed
    private let port: UInt16
    private let token: String
    private let limits: PageListener.Limits
    private let deadlines: any DeadlineSource
    private let accepting: PageSocket.Accepting
    private var phase = Phase.idle
    /// Who waits for the end.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameters:
    ///   - feed: What the page shows.
    ///   - port: The port; 0 for one that is free.
    ///   - token: What the address has; nil for a random one.
    ///   - limits: What a stranger may take.
    ///   - deadlines: Where the times of the limits come from.
    ///   - accepting: Takes the connections.
    init(
      _ feed: any Feed,
      port: UInt16,
      token: String?,
      limits: PageListener.Limits = PageListener.Limits(),
      deadlines: any DeadlineSource = SystemDeadlineSource(),
      accepting: @escaping PageSocket.Accepting = { accept($0, nil, nil) }
    ) {
      self.feed = feed
      self.port = port
      self.token = token ?? RequestGuard.makeToken()
      self.limits = limits
      self.deadlines = deadlines
      self.accepting = accepting
    }

    deinit { self.phase.listener?.close() }

    /// Begins to serve, unless it does.
    ///
    /// - Returns: The address of the page.
    func start() async throws(DevtoolsError) -> String {
      while case .stopping = self.phase { await self.ended() }
      if case .serving(_, let address) = self.phase { return address }
      guard RequestGuard.isFit(self.token) else {
        throw DevtoolsError(
          code: .unfitToken,
          description: "A token has 16 to 128 letters of ASCII, digits, hyphens and underscores."
        )
      }
      let listener = try PageListener(
        port: self.port,
        limits: self.limits,
        deadlines: self.deadlines,
        accepting: self.accepting
      ) { port in
        PageAnswers(feed: self.feed, guardian: RequestGuard(token: self.token, port: port))
      }
      let address = "http://127.0.0.1:\(listener.port)/?token=\(self.token)"
      self.phase = .serving(listener, address: address)
      await self.feed.begin()
      return address
    }

    /// Waits until nothing is served.
    func ended() async {
      if case .idle = self.phase { return }
      await withCheckedContinuation { self.waiting.append($0) }
    }

    /// Ends the connections and stops serving. When it returns, nothing of it is left.
    func stop() async {
      switch self.phase {
      case .idle: break
      case .stopping: await self.ended()
      case .serving(let listener, _):
        self.phase = .stopping(listener)
        await listener.closed()
        await self.feed.end()
        self.phase = .idle
        let waiting = self.waiting
        self.waiting = []
        for continuation in waiting { continuation.resume() }
      }
    }
  }
#endif
