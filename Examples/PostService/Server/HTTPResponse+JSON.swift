package import FlyingFox
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension HTTPResponse {
  package static func json(_ value: some Encodable, status: Int = 200) throws -> Self {
    Self(
      statusCode: HTTPStatusCode(status, phrase: HTTPURLResponse.localizedString(forStatusCode: status)),
      headers: [.contentType: "application/json"],
      body: try JSONEncoder().encode(value)
    )
  }

  package static func refusal(_ status: Int, _ message: String) throws -> Self {
    try .json(ErrorBody(message: message), status: status)
  }
}
