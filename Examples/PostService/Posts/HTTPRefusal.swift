package import Foundation

/// An answer of the server whose status is not a success.
package struct HTTPRefusal: Error, Hashable {
  package let status: Int
  package let message: String

  package init(status: Int, data: Data) {
    self.status = status
    self.message = (try? JSONDecoder().decode(ErrorBody.self, from: data))?.message ?? "no reason given"
  }
}

/// The body of an answer that is not a success.
package struct ErrorBody: Codable {
  package let message: String
}

extension HTTPRefusal: LocalizedError, CustomStringConvertible {
  package var description: String { "\(self.status), \(self.message)" }
  package var errorDescription: String? { self.description }
}
