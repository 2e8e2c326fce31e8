import FlyingFox
import FlyingSocks
package import Foundation

/// A real HTTP server on loopback, in this process, with posts, comments and people to serve, and faults to inject.
///
/// It takes a free port at its first start, and the same one when it is started again after a stop, so that a client
/// finds it at the same address.
package actor PostServer {
  package nonisolated let archive: PostArchive
  package nonisolated let comments: CommentArchive
  package nonisolated let people: PeopleArchive
  package nonisolated let script: ServerScript
  package nonisolated let log = RequestLog()
  private let handler: PostHandler
  private var port: UInt16 = 0
  private var running: (server: HTTPServer, task: Task<Void, any Error>)?

  package init(
    archive: PostArchive = PostArchive([]),
    comments: CommentArchive = CommentArchive([]),
    people: PeopleArchive = PeopleArchive([]),
    latency: Duration = .milliseconds(40),
    onAnswer: @escaping @Sendable (ServerAnswer) -> Void = { _ in }
  ) {
    self.archive = archive
    self.comments = comments
    self.people = people
    self.script = ServerScript(latency: latency)
    self.handler = PostHandler(
      archive: archive,
      comments: comments,
      people: people,
      script: self.script,
      log: self.log,
      onAnswer: onAnswer
    )
  }

  /// Returns the address once the server accepts connections there.
  @discardableResult
  package func start() async throws -> URL {
    precondition(self.running == nil, "the server is running already")
    let address: sockaddr_in = try .inet(ip4: "127.0.0.1", port: self.port)
    let pool = PromptSocketPool(base: HTTPServer.defaultPool())
    let server = HTTPServer(address: address, timeout: 10, pool: pool, logger: .disabled, handler: self.handler)
    let task = Task { try await server.run() }
    self.running = (server, task)
    do {
      try await server.waitUntilListening(timeout: 2)
    } catch {
      self.running = nil
      task.cancel()
      // The error of a server that could not listen says why, and that of the wait does not.
      try await task.value
      throw error
    }
    if case .ip4(_, let port) = await server.listeningAddress {
      self.port = port
    }
    guard self.port != 0, let url = URL(string: "http://127.0.0.1:\(self.port)") else {
      throw URLError(.badURL)
    }
    return url
  }

  /// Returns when the port is closed and no connection is left: further connections are refused.
  ///
  /// A request under way does not wait for its latency any more; it is answered with a 500.
  package func stop() async {
    guard let running = self.running else { return }
    self.running = nil
    await running.server.stop()
    _ = await running.task.result
  }
}
