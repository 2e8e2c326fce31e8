import Hummingbird
import Logging
import Synchronization

/// The port of a server, which is known when the server listens.
final class Listening: Sendable {
  private struct State {
    var port: Int?
    var waiting: [CheckedContinuation<Int, Never>] = []
  }

  private let state = Mutex(State())

  /// The port, when the server listens.
  var port: Int {
    get async {
      await withCheckedContinuation { continuation in
        let port = self.state.withLock { state -> Int? in
          if state.port == nil { state.waiting.append(continuation) }
          return state.port
        }
        if let port { continuation.resume(returning: port) }
      }
    }
  }

  /// A server at a free port of the loopback address.
  func application(router: Router<BasicRequestContext>, name: String) -> some ApplicationProtocol {
    Application(
      router: router,
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: name),
      onServerRunning: { channel in self.note(channel.localAddress?.port ?? 0) },
      logger: Logger(label: name)
    )
  }

  private func note(_ port: Int) {
    let waiting = self.state.withLock { state in
      state.port = port
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: port) }
  }
}
