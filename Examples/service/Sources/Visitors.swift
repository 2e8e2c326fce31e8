import Foundation
import OperationHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The reply to a visitor.
struct Reply: Sendable {
  let status: Int
  /// What the header says; nil without one.
  let answer: Answer?
  let text: String
}

/// The requests of the front's visitors.
struct Visitors: Sendable {
  let address: URL
  let transport: URLSessionTransport

  /// The replies to a request for each path, all at once.
  func get(_ paths: [String], headers: [String: String] = [:]) async throws -> [Reply] {
    try await withThrowingTaskGroup(of: (Int, Reply).self) { group in
      for (index, path) in paths.enumerated() { group.addTask { (index, try await self.send("GET", path, headers)) } }
      let replies = try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      return paths.indices.compactMap { replies[$0] }
    }
  }

  func get(_ path: String, headers: [String: String] = [:]) async throws -> Reply {
    try await self.send("GET", path, headers)
  }

  func post(_ path: String, headers: [String: String] = [:]) async throws -> Reply {
    try await self.send("POST", path, headers)
  }

  private func send(_ method: String, _ path: String, _ headers: [String: String]) async throws -> Reply {
    let fields = OperationHTTPFields(headers)
    let request = OperationHTTPRequest(self.address.appending(path: path), method: method, fields: fields)
    let response = try await self.transport.send(request)
    return Reply(
      status: response.status,
      answer: response.fields[Answer.header].flatMap(Answer.init),
      text: String(decoding: try await response.data(), as: UTF8.self)
    )
  }
}

extension URLSessionTransport {
  /// A transport that keeps no answers, and opens enough connections for a crowd.
  static func plain() -> URLSessionTransport {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = 20
    configuration.httpMaximumConnectionsPerHost = 64
    return URLSessionTransport(configuration: configuration)
  }
}
