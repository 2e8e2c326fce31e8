import Hummingbird
import Logging
import Synchronization

/// A server with posts, which counts its requests and can be down.
final class Upstream: Sendable {
  private struct State {
    var isDown = false
    var requestCount = 0
    var port: Int?
    var waiting: CheckedContinuation<Int, Never>?
  }

  private let state = Mutex(State())

  var requestCount: Int { self.state.withLock { $0.requestCount } }

  func becomeDown() { self.state.withLock { $0.isDown = true } }

  /// The port, when the server listens. Only one caller asks.
  var port: Int {
    get async {
      await withCheckedContinuation { continuation in
        let port = self.state.withLock { state in
          if state.port == nil { state.waiting = continuation }
          return state.port
        }
        if let port { continuation.resume(returning: port) }
      }
    }
  }

  /// Where a server notes that it listens.
  func note(port: Int) {
    let waiting = self.state.withLock { state in
      state.port = port
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(returning: port)
  }

  /// Serves until its task is cancelled. Posts from 100 on are stale at once, and may be used while there is no newer one.
  func run() async throws {
    let router = Router()
    router.get("posts/{id}") { request, context in
      let id = try context.parameters.require("id", as: Int.self)
      let isDown = self.state.withLock { state in
        state.requestCount += 1
        return state.isDown
      }
      if isDown { throw HTTPError(.internalServerError) }
      var response = try Post(id: id, title: "Post \(id)").response(from: request, context: context)
      response.headers[.cacheControl] = "max-age=\(id < 100 ? 60 : 0), stale-if-error=600"
      return response
    }
    let application = Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { self.note(port: $0.localAddress?.port ?? 0) },
      logger: Logger(label: "upstream")
    )
    try await application.run()
  }
}
