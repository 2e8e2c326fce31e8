import FlyingFox
import FlyingSocks
import Foundation

/// A server that keeps notes, each key once, and that can be stopped and started at one address.
actor NoteServer {
  private(set) var notes: [String] = []
  private(set) var requestCount = 0
  private var keys: Set<String> = []
  private var port: UInt16 = 0
  private var running: (server: HTTPServer, task: Task<Void, any Error>)?

  func start() async throws -> URL {
    let address: sockaddr_in = try .inet(ip4: "127.0.0.1", port: self.port)
    let handler = ClosureHTTPHandler { request in await self.answer(request) }
    let server = HTTPServer(address: address, logger: .disabled, handler: handler)
    let task = Task { try await server.run() }
    self.running = (server, task)
    try await server.waitUntilListening(timeout: 5)
    if case .ip4(_, let port) = await server.listeningAddress { self.port = port }
    guard self.port != 0, let url = URL(string: "http://127.0.0.1:\(self.port)") else { throw URLError(.badURL) }
    return url
  }

  func stop() async {
    guard let running = self.running else { return }
    self.running = nil
    await running.server.stop()
    running.task.cancel()
    _ = try? await running.task.value
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    if request.method == .POST {
      self.requestCount += 1
      guard
        let body = try? await request.bodyData,
        let key = request.headers[HTTPHeader("Idempotency-Key")]
      else { return HTTPResponse(statusCode: .badRequest) }
      if self.keys.insert(key).inserted { self.notes.append(String(decoding: body, as: UTF8.self)) }
      return HTTPResponse(statusCode: .ok)
    }
    let body = (try? JSONEncoder().encode(self.notes)) ?? Data()
    return HTTPResponse(statusCode: .ok, body: body)
  }
}
