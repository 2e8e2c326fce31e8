import Foundation
import OperationHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server, as plain async functions: no retry, no limit, no login.
struct FileAPI: Sendable {
  let baseURL: URL
  private let transport: URLSessionTransport

  init(baseURL: URL) {
    self.baseURL = baseURL
    let configuration = URLSessionConfiguration.ephemeral
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.timeoutIntervalForRequest = 5
    configuration.httpMaximumConnectionsPerHost = 32
    self.transport = URLSessionTransport(configuration: configuration)
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
    var request = OperationHTTPRequest(self.baseURL.appending(path: path))
    request.fields["Authorization"] = token
    return try await self.transport.send(request).successful().data()
  }
}
