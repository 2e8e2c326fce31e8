#if SwiftOperationAsyncHTTPClient
  internal import AsyncHTTPClient
  public import OperationCore
  public import OperationFoundation

  /// AsyncHTTPClient has not got an answer, or not all of it.
  ///
  /// It classifies itself for retries, limits and journals.
  public struct AsyncHTTPClientTransportError: RetryClassifying, CustomStringConvertible {
    /// What is wrong.
    public struct Code: Hashable, Sendable {
      fileprivate enum Kind: Hashable { case connectionFailed, timedOut, invalidRequest, tooManyRedirections }

      fileprivate let kind: Kind

      /// No connection could be made, or it has ended before the answer was complete.
      public static let connectionFailed = Code(kind: .connectionFailed)

      /// A time limit of the transport or of the client has passed.
      public static let timedOut = Code(kind: .timedOut)

      /// The client sends no such request, or has been shut down.
      public static let invalidRequest = Code(kind: .invalidRequest)

      /// The server redirects in a circle, or more often than the client follows.
      public static let tooManyRedirections = Code(kind: .tooManyRedirections)
    }

    /// What is wrong.
    public let code: Code

    /// The error of the client.
    public let cause: any Error

    /// Creates an error, for tests of what handles it.
    ///
    /// - Parameters:
    ///   - code: What is wrong.
    ///   - cause: The error of the client.
    public init(code: Code, cause: any Error) {
      self.code = code
      self.cause = cause
    }

    /// Whether another attempt can succeed: after a failed connection and after a timeout.
    public var retryClassification: RetryClassification {
      switch self.code.kind {
      case .connectionFailed, .timedOut: .retry
      case .invalidRequest, .tooManyRedirections: .never
      }
    }

    /// A sentence for people who read logs, with the error of the client.
    public var description: String {
      let sentence =
        switch self.code.kind {
        case .connectionFailed: "The connection has failed"
        case .timedOut: "The server has not answered in time"
        case .invalidRequest: "The request cannot be sent"
        case .tooManyRedirections: "The server redirects too often"
        }
      return "\(sentence): \(self.reason)."
    }

    private var reason: String {
      // Without associated values, which can be parts of the request.
      (self.cause as? HTTPClientError)?.shortDescription ?? "\(self.cause)"
    }
  }

  extension AsyncHTTPClientTransportError {
    /// What a caller gets for an error of the client.
    static func describing(_ error: any Error) -> any Error {
      // `HTTPClientError.cancelled` is no cancellation of the caller: the client cancels requests when it is shut down.
      if error is CancellationError { return error }
      guard let error = error as? HTTPClientError else { return Self(code: .connectionFailed, cause: error) }
      return Self(code: Code(error), cause: error)
    }
  }

  extension AsyncHTTPClientTransportError: LocalizedError {
    public var errorDescription: String? { self.description }
  }

  extension AsyncHTTPClientTransportError.Code {
    fileprivate init(_ error: HTTPClientError) {
      self =
        switch error {
        case .remoteConnectionClosed, .uncleanShutdown, .cancelled, .requestStreamCancelled, .invalidProxyResponse:
          .connectionFailed
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout,
          .socksHandshakeTimeout,
          .httpProxyHandshakeTimeout, .getConnectionFromPoolTimeout:
          .timedOut
        case .redirectLimitReached, .redirectCycleDetected: .tooManyRedirections
        // The others are mistakes in the request, in the address or in the configuration.
        default: .invalidRequest
        }
    }
  }
#endif
