import Foundation

/// An answer that the server did give, and that is not the one that was asked for.
struct HTTPRefusal: Error, Hashable {
  let status: Int
  let message: String

  init(status: Int, data: Data) {
    self.status = status
    self.message = (try? JSONDecoder().decode(ErrorBody.self, from: data))?.message ?? "no reason given"
  }
}

/// What the server writes into the body of an answer that is not a success.
struct ErrorBody: Codable {
  let message: String
}

extension HTTPRefusal: LocalizedError, CustomStringConvertible {
  var description: String { "\(self.status), \(self.message)" }
  var errorDescription: String? { self.description }
}
