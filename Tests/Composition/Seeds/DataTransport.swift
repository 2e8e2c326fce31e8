import Foundation
import Operation
import OperationTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// The reference documents' context entry for a transport, which tests replace.

protocol HTTPDataTransport: Sendable {
  func data(for request: URLRequest) async throws -> (Data, URLResponse)
}

extension URLSession: HTTPDataTransport {
  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await self.data(for: request, delegate: nil)
  }
}

extension OperationContext {
  var dataTransport: any HTTPDataTransport {
    get { self[DataTransportKey.self] }
    set { self[DataTransportKey.self] = newValue }
  }

  private enum DataTransportKey: Key {
    static let defaultValue: any HTTPDataTransport = URLSession.shared
  }
}

/// Answers with the post for the last component of the path, when the gate is open. Other paths are not found.
struct MockDataTransport: HTTPDataTransport {
  var posts: [String: Post] = [:]
  var gate = Gate(isOpen: true)

  func data(for request: URLRequest) async throws -> (Data, URLResponse) {
    try await self.gate.wait()
    guard let url = request.url else { throw URLError(.badURL) }
    let post = self.posts[url.lastPathComponent]
    let response = HTTPURLResponse(
      url: url,
      statusCode: post == nil ? 404 : 200,
      httpVersion: nil,
      headerFields: ["Content-Type": "application/json"]
    )
    guard let response else { throw URLError(.badServerResponse) }
    return (try post.map { try JSONEncoder().encode($0) } ?? Data(), response)
  }
}
