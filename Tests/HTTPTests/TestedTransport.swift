import Foundation
import OperationHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

#if SwiftOperationAsyncHTTPClient
  import AsyncHTTPClient
  import OperationAsyncHTTPClient
#endif

/// The transports that keep the same rules.
enum TestedTransport: CaseIterable {
  case urlSession
  #if SwiftOperationAsyncHTTPClient
    case asyncHTTPClient
  #endif

  func make() -> any OperationHTTPTransport {
    switch self {
    case .urlSession: URLSessionTransport()
    #if SwiftOperationAsyncHTTPClient
      case .asyncHTTPClient: AsyncHTTPClientTransport.shared
    #endif
    }
  }

  /// Whether it sends the cookies of a server back to it.
  var keepsCookies: Bool { self == .urlSession }

  /// Whether it is the transport's error for a connection that has failed.
  func isConnectionFailure(_ error: (any Error)?) -> Bool {
    switch self {
    case .urlSession: error is URLError
    #if SwiftOperationAsyncHTTPClient
      case .asyncHTTPClient: (error as? AsyncHTTPClientTransportError)?.code == .connectionFailed
    #endif
    }
  }
}
