import Foundation
import Requests

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server, as plain async functions: no retry, no limit, no login.
struct FileAPI: Sendable {
  struct Refused: Error {
    let status: Int
  }

  let baseURL: URL
  private let session: URLSession

  init(baseURL: URL) {
    self.baseURL = baseURL
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.timeoutIntervalForRequest = 5
    configuration.httpMaximumConnectionsPerHost = 32
    self.session = URLSession(configuration: configuration)
  }

  /// Returns a token.
  func logIn() async throws -> String {
    String(decoding: try await self.get("login", token: nil), as: UTF8.self)
  }

  func list(token: String) async throws -> [RemoteFile] {
    try JSONDecoder().decode([RemoteFile].self, from: try await self.get("files", token: token))
  }

  func content(of file: RemoteFile, token: String) async throws -> Data {
    try await self.get("files/\(file.name)", token: token)
  }

  private func get(_ path: String, token: String?) async throws -> Data {
    var request = URLRequest(url: self.baseURL.appending(path: path))
    if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
    let (data, response) = try await self.session.response(to: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard (200..<300).contains(status) else { throw Refused(status: status) }
    return data
  }
}
