import Foundation
import Requests

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
  let session: URLSession

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
    var request = URLRequest(url: self.address.appending(path: path))
    request.httpMethod = method
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await self.session.response(to: request)
    let http = response as? HTTPURLResponse
    return Reply(
      status: http?.statusCode ?? 0,
      answer: http?.value(forHTTPHeaderField: Answer.header).flatMap(Answer.init),
      text: String(decoding: data, as: UTF8.self)
    )
  }
}

extension URLSession {
  /// A session that keeps no answers, and opens enough connections for a crowd.
  static func plain() -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = 20
    configuration.httpMaximumConnectionsPerHost = 64
    return URLSession(configuration: configuration)
  }
}
