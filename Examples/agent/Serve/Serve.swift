import ArgumentParser
import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// The endpoint: it answers a request with its path, and with the number of requests for that path.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Serves an endpoint until it is ended by a signal.")

  @Option(help: "The port.")
  var port: UInt16 = 8080

  func run() async throws {
    let counter = Counter()
    let address: sockaddr_in = try .inet(ip4: "0.0.0.0", port: self.port)
    let server = HTTPServer(address: address, logger: .disabled)
    for route in ["GET /heartbeat", "GET /settings", "GET /reports/*"] {
      await server.appendRoute(HTTPRoute(route)) { request in
        let name = String(request.path.dropFirst())
        return HTTPResponse(statusCode: .ok, body: Data("\(name), answer \(counter.next(for: name))".utf8))
      }
    }
    try await server.run()
  }
}

private final class Counter: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  func next(for name: String) -> Int {
    self.counts.withLock { counts in
      counts[name, default: 0] += 1
      return counts[name, default: 0]
    }
  }
}
