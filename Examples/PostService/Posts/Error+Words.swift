import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Error {
  /// What went wrong, in a few words: what the system says of a lost connection fills a line of its own.
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
