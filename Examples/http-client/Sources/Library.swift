import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Operation

/// The server's functions over AsyncHTTPClient: no retry, no sharing, no cache.
///
/// A request is cancelled with its task, so a timeout or the last caller that leaves also ends it on the wire.
struct Library: Sendable {
  let http: HTTPClient
  let address: String

  /// The book, or nil if the server says that there is none: a 404 is an answer, not a failure.
  func book(_ id: Int) async throws -> Book? {
    do {
      return try await self.send(HTTPClientRequest(url: "\(self.address)/books/\(id)"), as: Book.self)
    } catch let refusal as Refusal where refusal.status == 404 {
      return nil
    }
  }

  func rename(_ id: Int, to title: String) async throws -> Book {
    var request = HTTPClientRequest(url: "\(self.address)/books/\(id)")
    request.method = .PUT
    request.headers.add(name: "Content-Type", value: "application/json")
    request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(Book(id: id, title: title))))
    return try await self.send(request, as: Book.self)
  }

  private func send<Value: Decodable>(_ request: HTTPClientRequest, as type: Value.Type) async throws -> Value {
    // A bound for answers that never come. The operations have shorter ones.
    let response = try await self.http.execute(request, timeout: .seconds(60))
    guard (200..<300).contains(response.status.code) else {
      throw Refusal(status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"))
    }
    let body = try await response.body.collect(upTo: 1 << 20)
    return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
  }
}

/// An answer whose status is not a success.
struct Refusal: Error, RetryClassifying, CustomStringConvertible {
  let status: Int
  let retryAfter: String?

  /// A 503 is tried again, when the server asks for it if it does, and a 403 is not.
  var retryClassification: RetryClassification {
    RetryClassification(httpStatus: self.status, retryAfter: self.retryAfter)
  }

  var description: String { "the server has answered \(self.status)" }
}
