import Foundation
import OperationHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Error {
  /// The error in a few words. The system's own description of a lost connection fills a line.
  package var inWords: String {
    if let error = self as? OperationHTTPStatusError {
      let message = (try? JSONDecoder().decode(ErrorBody.self, from: error.body))?.message
      return "\(error.status), \(message ?? "no reason given")"
    }
    return switch (self as? URLError)?.code {
    case .cannotConnectToHost, .cannotFindHost: "no connection to the server"
    case .networkConnectionLost: "the connection was lost"
    case .timedOut: "no answer in time"
    case .cancelled: "cancelled"
    default: self.localizedDescription
    }
  }
}
