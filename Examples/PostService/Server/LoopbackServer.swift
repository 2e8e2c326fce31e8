package import FlyingFox
import FlyingSocks
package import Foundation

/// A real HTTP server on loopback, in this process, at a free port.
package actor LoopbackServer {
  private let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse
  private var running: (server: HTTPServer, task: Task<Void, any Error>)?

  package init(_ handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    self.handler = handler
  }

  /// Returns the address once the server accepts connections there.
  package func start() async throws -> URL {
    let address: sockaddr_in = try .inet(ip4: "127.0.0.1", port: 0)
    let pool = PromptSocketPool(base: HTTPServer.defaultPool())
    let handler = ClosureHTTPHandler(self.handler)
    let server = HTTPServer(address: address, timeout: 10, pool: pool, logger: .disabled, handler: handler)
    let task = Task { try await server.run() }
    self.running = (server, task)
    try await server.waitUntilListening(timeout: 2)
    guard case .ip4(_, let port)? = await server.listeningAddress, let url = URL(string: "http://127.0.0.1:\(port)")
    else { throw URLError(.badURL) }
    return url
  }

  /// Returns when no connection is left.
  package func stop() async {
    guard let running = self.running.take() else { return }
    await running.server.stop()
    running.task.cancel()
    _ = await running.task.result
  }
}
