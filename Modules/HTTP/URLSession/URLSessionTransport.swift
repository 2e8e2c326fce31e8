internal import Synchronization

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// Sends requests by a URLSession, with a cancellation that is safe on Linux, too.
///
/// ```swift
/// let configuration = URLSessionConfiguration.ephemeral
/// configuration.timeoutIntervalForRequest = 5
/// client.defaultContext.operationHTTPTransport = URLSessionTransport(configuration: configuration)
/// ```
///
/// A task that is cancelled gets its `CancellationError` at once, whatever the session does. The session sends on what the
/// server sends, without a pause: a body that is read slowly waits in memory. Redirections are followed.
public final class URLSessionTransport: OperationHTTPTransport {
  /// One transport for the process, without a cache.
  public static let shared = URLSessionTransport()

  private let session: URLSession
  private let exchanges = URLSessionExchanges()

  /// Creates a transport.
  ///
  /// - Parameter configuration: The configuration of the session; nil for one that stores nothing. A cache of the session
  ///   would answer conditional requests itself, so leave it out.
  public init(configuration: URLSessionConfiguration? = nil) {
    let configuration = configuration ?? .withoutCache
    self.session = URLSession(configuration: configuration, delegate: self.exchanges, delegateQueue: nil)
  }

  deinit {
    // The session keeps its delegate until then. Requests under way end as they would.
    self.session.finishTasksAndInvalidate()
  }

  public func send(_ request: OperationHTTPRequest) async throws -> OperationHTTPResponse {
    try Task.checkCancellation()
    let exchange = URLSessionExchange(self.session.dataTask(with: URLRequest(request)))
    self.exchanges.add(exchange)
    let head = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { exchange.begin($0) }
    } onCancel: {
      exchange.cancel(CancellationError())
    }
    let body = URLSessionBody(exchange: exchange)
    return OperationHTTPResponse(status: head.statusCode, fields: head.operationFields, body: OperationHTTPBody(body))
  }
}

extension URLSessionConfiguration {
  fileprivate static var withoutCache: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    return configuration
  }
}

extension URLRequest {
  fileprivate init(_ request: OperationHTTPRequest) {
    self.init(url: request.url)
    self.httpMethod = request.method
    self.httpBody = request.body
    for field in request.fields { self.addValue(field.value, forHTTPHeaderField: field.name) }
  }
}

extension HTTPURLResponse {
  fileprivate var operationFields: OperationHTTPFields {
    OperationHTTPFields(
      self.allHeaderFields.compactMap { name, value in
        (name as? String).map { (name: $0, value: "\(value)") }
      }
      .sorted { $0.name < $1.name }
    )
  }
}

/// The exchanges of a session, by the numbers of its tasks.
final class URLSessionExchanges: NSObject, Sendable {
  private let running = Mutex<[Int: URLSessionExchange]>([:])

  func add(_ exchange: URLSessionExchange) {
    self.running.withLock { $0[exchange.task.taskIdentifier] = exchange }
  }

  private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
    self.running.withLock { $0[task.taskIdentifier] }
  }
}

extension URLSessionExchanges: URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    self.exchange(of: dataTask)?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    self.exchange(of: dataTask)?.receive(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    self.running.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }

  #if canImport(FoundationNetworking)
    // An answer with 401 ends with a question for credentials, and with nothing else: without this it never ends. The
    // header and the body are there by then.
    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      self.running.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(nil)
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #endif
}
