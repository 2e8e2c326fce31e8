#if SwiftOperationDevtools
  internal import FlyingFox
  internal import FlyingSocks
  internal import OperationCore
  internal import OperationFoundation
  internal import OperationPlatform

  /// Serves the page and the messages of a feed on the loopback interface.
  actor PageServer {
    private let feed: any Feed
    private let port: UInt16
    private let token = RequestGuard.makeToken()
    private var running: (server: HTTPServer, task: Task<Void, any Error>, address: String)?
    private nonisolated let canceller = TaskSlot()

    init(_ feed: any Feed, port: UInt16) {
      self.feed = feed
      self.port = port
    }

    /// Begins to serve.
    ///
    /// - Returns: The address of the page.
    func start() async throws -> String {
      if let running { return running.address }
      let handler = PageHandler(feed: self.feed, token: self.token)
      let address = try sockaddr_in.inet(ip4: "127.0.0.1", port: self.port)
      let server = HTTPServer(config: .init(address: address, logger: .disabled), handler: handler)
      let listening = Task { try await server.waitUntilListening(timeout: 30) }
      let task = Task(name: "Devtools server") {
        defer { listening.cancel() }
        try await server.run()
      }
      do {
        try await listening.value
      } catch {
        task.cancel()
        // Such as that the port is in use, which is why it does not listen.
        try await task.value
        throw error
      }
      guard case .ip4(_, let port)? = await server.listeningAddress else { throw SocketError.disconnected }
      handler.serve(port)
      let text = "http://127.0.0.1:\(port)/?token=\(self.token)"
      self.running = (server, task, text)
      self.canceller.set(
        Task {
          await withTaskCancellationHandler {
            _ = await task.result
          } onCancel: {
            task.cancel()
          }
        }
      )
      return text
    }

    /// Waits until the server has ended.
    func ended() async throws {
      guard let task = self.running?.task else { return }
      try await task.value
      try Task.checkCancellation()
    }

    func stop() async {
      guard let running = self.running else { return }
      self.running = nil
      await running.server.stop()
      running.task.cancel()
      _ = await running.task.result
    }

    nonisolated func cancel() { self.canceller.set(nil) }
  }

  /// Answers the requests of pages.
  private final class PageHandler: HTTPHandler {
    private let feed: any Feed
    private let token: String
    /// The port, once it is known.
    private let port = Locked<UInt16>(0)

    init(feed: any Feed, token: String) {
      self.feed = feed
      self.token = token
    }

    func serve(_ port: UInt16) { self.port.withLock { $0 = port } }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
      let query = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
      let claims = RequestGuard.Claims(
        method: request.method.rawValue,
        path: request.path,
        host: request.headers[.host],
        origin: request.headers[HTTPHeader("Origin")],
        site: request.headers[HTTPHeader("Sec-Fetch-Site")],
        authorization: request.headers[.authorization],
        queryToken: query["token"]
      )
      let guardian = RequestGuard(token: self.token, port: self.port.withLock { $0 })
      if case .refused(let status, let reason) = guardian.judge(claims) { return .text(reason, status: status) }
      if request.method == .GET {
        if let file = PageFile.all[request.path] {
          return HTTPResponse(file.text.replacing("%TOKEN%", with: self.token), type: file.type)
        }
        if request.path == "/api/events" {
          return HTTPResponse(events: EventStreamBody(connection: await self.feed.connect()))
        }
      }
      return await self.answer(request, query)
    }

    private func answer(_ request: HTTPRequest, _ query: [String: String]) async -> HTTPResponse {
      var body = ""
      if request.method == .POST {
        guard let count = request.bodySequence.count, count <= 1 << 20 else {
          return .text("The body is too long.", status: 413)
        }
        guard let data = try? await request.bodyData else { return .text("The body is not complete.", status: 400) }
        body = String(decoding: data, as: UTF8.self)
      }
      let question = FeedRequest(method: request.method.rawValue, path: request.path, query: query, body: body)
      switch await self.feed.answer(question) {
      case .json(let text): return HTTPResponse(text, type: "application/json")
      case .lines(let text): return HTTPResponse(text, type: "application/x-ndjson")
      case .unknown: return .text("There is nothing here.", status: 404)
      case .forbidden(let reason): return .text(reason, status: 403)
      case .wrong(let reason): return .text(reason, status: 400)
      }
    }
  }
#endif
