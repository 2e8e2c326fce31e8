public import OperationCore

/// What sends requests: URLSession, another client, or a script in a test.
///
/// ```swift
/// struct EmptyServer: OperationHTTPTransport {
///   func send(_ request: OperationHTTPRequest) async throws -> OperationHTTPResponse {
///     OperationHTTPResponse(status: 204)
///   }
/// }
///
/// context.operationHTTPTransport = EmptyServer()
/// ```
public protocol OperationHTTPTransport: Sendable {
  /// Sends a request, and returns when the header of the answer is there.
  ///
  /// A status is no error here. When the task is cancelled, it throws without delay, and the request ends.
  ///
  /// - Parameter request: The request.
  /// - Returns: The answer, of any status.
  /// - Throws: What has kept the answer from arriving.
  func send(_ request: OperationHTTPRequest) async throws -> OperationHTTPResponse
}

extension OperationContext {
  /// What sends the requests of a run. The default is a URLSession without a cache, one for the process.
  public var operationHTTPTransport: any OperationHTTPTransport {
    get { self[TransportKey.self] ?? URLSessionTransport.shared }
    set { self[TransportKey.self] = newValue }
  }

  private enum TransportKey: Key {
    // Made when it is needed: a test with a transport of its own begins no session.
    static let defaultValue: (any OperationHTTPTransport)? = nil
  }
}
