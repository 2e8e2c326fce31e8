import ArgumentParser
import Foundation
import OperationHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server, as a plain async function: no retry, no cache.
struct Endpoint: Sendable {
  private let address: URL
  private let transport: URLSessionTransport

  @Sendable
  init(address text: String) throws {
    guard let address = URL(string: text), address.scheme == "http", address.host() != nil else {
      throw ValidationError("it is an http address, such as http://10.77.0.2:8080.")
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = 2
    self.address = address
    self.transport = URLSessionTransport(configuration: configuration)
  }

  func text(at path: String) async throws -> String {
    let request = OperationHTTPRequest(self.address.appending(path: path))
    return String(decoding: try await self.transport.send(request).successful().data(), as: UTF8.self)
  }
}
