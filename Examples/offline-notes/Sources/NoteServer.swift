import FlyingFox
import FlyingSocks
import Foundation

/// A server that keeps notes, does the request of each key once, and can be stopped and started at one address.
actor NoteServer {
  private var notes: [Note] = []
  private(set) var requestCount = 0
  private var keys: Set<String> = []
  private var port: UInt16 = 0
  private var running: (server: HTTPServer, task: Task<Void, any Error>)?

  var texts: [String] { self.notes.map(\.text) }

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
    if request.method == .GET { return Self.response(.ok, self.notes) }
    self.requestCount += 1
    guard
      let body = try? await request.bodyData,
      let key = request.headers[HTTPHeader("Idempotency-Key")]
    else { return HTTPResponse(statusCode: .badRequest) }
    let text = String(decoding: body, as: UTF8.self)
    if request.method == .PUT { return self.change(request, key, to: text) }
    if self.keys.insert(key).inserted {
      self.notes.append(Note(id: self.notes.count, text: text, version: 1))
    }
    return HTTPResponse(statusCode: .ok)
  }

  /// Changes a note, if it has the version that the request names.
  private func change(_ request: HTTPRequest, _ key: String, to text: String) -> HTTPResponse {
    guard let id = request.path.split(separator: "/").last.flatMap({ Int($0) }), self.notes.indices.contains(id)
    else { return HTTPResponse(statusCode: .notFound) }
    if self.keys.contains(key) { return Self.response(.ok, self.notes[id]) }
    if let version = request.headers[HTTPHeader("If-Match")], version != "\(self.notes[id].version)" {
      return Self.response(.preconditionFailed, self.notes[id])
    }
    self.keys.insert(key)
    self.notes[id].text = text
    self.notes[id].version += 1
    return Self.response(.ok, self.notes[id])
  }

  private static func response(_ status: HTTPStatusCode, _ value: some Encodable) -> HTTPResponse {
    HTTPResponse(statusCode: status, body: (try? JSONEncoder().encode(value)) ?? Data())
  }
}
