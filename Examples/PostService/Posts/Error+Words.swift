import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Error {
  /// The error in a few words. The system's own description of a lost connection fills a line.
  package var inWords: String {
    switch (self as? URLError)?.code {
    case .cannotConnectToHost, .cannotFindHost: "no connection to the server"
    case .networkConnectionLost: "the connection was lost"
    case .timedOut: "no answer in time"
    case .cancelled: "cancelled"
    default: self.localizedDescription
    }
  }
}
