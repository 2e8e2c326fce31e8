import FlyingFox
import FlyingSocks
import Foundation

/// A server with books on loopback, which refuses or delays requests as it was told.
actor LibraryServer {
  /// How the next requests are answered, before the server answers as it should.
  enum Fault {
    case refusal(Int, retryAfter: Int?)
    /// It never answers.
    case silence
  }

  private var books = [1: Book(id: 1, title: "A first book"), 2: Book(id: 2, title: "A second book")]
  private var faults: [Fault] = []
  private(set) var requestCount = 0
  private var running: (server: HTTPServer, task: Task<Void, any Error>)?

  /// Returns the address once the server accepts connections there.
  func start() async throws -> URL {
    let address: sockaddr_in = try .inet(ip4: "127.0.0.1", port: 0)
    let handler = ClosureHTTPHandler { request in await self.answer(request) }
    let server = HTTPServer(address: address, logger: .disabled, handler: handler)
    let task = Task { try await server.run() }
    self.running = (server, task)
    try await server.waitUntilListening(timeout: 5)
    guard case .ip4(_, let port)? = await server.listeningAddress, let address = URL(string: "http://127.0.0.1:\(port)")
    else { throw URLError(.badURL) }
    return address
  }

  func stop() async {
    guard let running = self.running.take() else { return }
    await running.server.stop()
    running.task.cancel()
    _ = await running.task.result
  }

  /// Uses a fault for each of the next requests, and counts from zero.
  func prepare(_ faults: Fault...) {
    self.faults = faults
    self.requestCount = 0
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    self.requestCount += 1
    switch self.faults.isEmpty ? nil : self.faults.removeFirst() {
    case .refusal(let status, let retryAfter):
      var headers = HTTPHeaders()
      if let retryAfter { headers[HTTPHeader("Retry-After")] = "\(retryAfter)" }
      return HTTPResponse(statusCode: HTTPStatusCode(status, phrase: "Refused"), headers: headers)
    case .silence:
      // Ends when the server is stopped.
      try? await Task.sleep(for: .seconds(3_600))
      return HTTPResponse(statusCode: .gatewayTimeout)
    case nil: break
    }
    guard let name = request.path.split(separator: "/").last, let id = Int(name) else {
      return HTTPResponse(statusCode: .notFound)
    }
    if request.method == .PUT {
      guard let body = try? await request.bodyData, let book = try? JSONDecoder().decode(Book.self, from: body) else {
        return HTTPResponse(statusCode: .badRequest)
      }
      self.books[id] = book
    }
    guard let book = self.books[id], let body = try? JSONEncoder().encode(book) else {
      return HTTPResponse(statusCode: .notFound)
    }
    let headers: HTTPHeaders = [HTTPHeader("Cache-Control"): "max-age=60"]
    return HTTPResponse(statusCode: .ok, headers: headers, body: body)
  }
}
