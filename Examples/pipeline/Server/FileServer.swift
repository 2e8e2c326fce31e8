import FlyingFox
import FlyingSocks
import Foundation

/// A real HTTP server on loopback, in this process. It asks for a login, and refuses each file once.
actor FileServer {
  nonisolated let state: ServerState
  private var running: (server: HTTPServer, task: Task<Void, any Error>)?

  init(fileCount: Int) {
    self.state = ServerState(fileCount: fileCount)
  }

  /// Returns the address once the server accepts connections there.
  func start() async throws -> URL {
    let address: sockaddr_in = try .inet(ip4: "127.0.0.1", port: 0)
    let server = HTTPServer(address: address, timeout: 10, logger: .disabled, handler: FileHandler(state: self.state))
    let task = Task { try await server.run() }
    self.running = (server, task)
    try await server.waitUntilListening(timeout: 2)
    guard case .ip4(_, let port) = await server.listeningAddress, let url = URL(string: "http://127.0.0.1:\(port)")
    else {
      throw URLError(.badURL)
    }
    return url
  }

  func stop() async {
    guard let running = self.running else { return }
    self.running = nil
    await running.server.stop()
    _ = await running.task.result
  }
}

private struct FileHandler: HTTPHandler {
  static let token = "a token"

  let state: ServerState

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    if request.path == "/login" {
      self.state.noteLogin()
      return HTTPResponse(statusCode: .ok, body: Data(Self.token.utf8))
    }
    guard request.headers[.authorization] == Self.token else { return HTTPResponse(statusCode: .unauthorized) }
    if request.path == "/files" {
      return HTTPResponse(statusCode: .ok, body: try JSONEncoder().encode(self.state.files))
    }
    self.state.beginDownload()
    defer { self.state.endDownload() }
    try await Task.sleep(for: .milliseconds(30))
    let name = request.path.split(separator: "/").last.map(String.init) ?? ""
    guard let content = self.state.content(of: name) else { return HTTPResponse(statusCode: .notFound) }
    if self.state.isFirstRequest(of: name) { return HTTPResponse(statusCode: .serviceUnavailable) }
    return HTTPResponse(statusCode: .ok, body: content)
  }
}
