import ArgumentParser
import Foundation
import Requests

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server, as a plain async function: no retry, no cache.
struct Endpoint: Sendable {
  struct Refusal: Error {
    let status: Int
  }

  private let address: URL
  private let session: URLSession

  @Sendable
  init(address text: String) throws {
    guard let address = URL(string: text), address.scheme == "http", address.host() != nil else {
      throw ValidationError("it is an http address, such as http://10.77.0.2:8080.")
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.timeoutIntervalForRequest = 2
    self.address = address
    self.session = URLSession(configuration: configuration)
  }

  func text(at path: String) async throws -> String {
    let (data, response) = try await self.session.response(to: URLRequest(url: self.address.appending(path: path)))
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw Refusal(status: status) }
    return String(decoding: data, as: UTF8.self)
  }
}
