#if SwiftOperationAsyncHTTPClient
  public import AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  public import OperationCore
  internal import OperationFoundation
  public import OperationHTTP

  /// Sends requests by an `HTTPClient` of AsyncHTTPClient.
  ///
  /// ```swift
  /// client.defaultContext.operationHTTPTransport = AsyncHTTPClientTransport.shared
  /// ```
  ///
  /// A task that is cancelled gets its `CancellationError` at once, and the request ends. The body is read from the connection
  /// as it is needed, so a slow reader slows the server down. What the server sends after the body, its trailers, is left out.
  /// Redirections, decompression, TLS, HTTP/2, proxies and connections are as the configuration of the client has them.
  public struct AsyncHTTPClientTransport: OperationHTTPTransport {
    /// One transport for the process, whose client is never shut down.
    ///
    /// It is configured as `HTTPClient.shared`, with one difference: a connection that cannot be made is a failure at once. When to
    /// try again is a matter of the operation, whose state shows the attempt and whose budget bounds it.
    public static let shared = AsyncHTTPClientTransport(
      HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: .failingAtOnce)
    )

    private let client: HTTPClient
    private let timeout: OperationDuration?

    /// Creates a transport with a client of yours.
    ///
    /// Unless its `connectionPool.retryConnectionEstablishment` is false, the client itself tries again to connect until its
    /// `timeout.connect` has passed, and the operation gets the failure only then.
    ///
    /// - Parameters:
    ///   - client: The client, which you shut down after the last request.
    ///   - timeout: How long the header of an answer may take, redirections included; nil for no end. It counts for each
    ///     request, where `.timeout(_:)` of an operation counts for a run.
    public init(_ client: HTTPClient, timeout: OperationDuration? = .seconds(60)) {
      self.client = client
      self.timeout = timeout
    }

    public func send(_ request: OperationHTTPRequest) async throws -> OperationHTTPResponse {
      try Task.checkCancellation()
      do {
        let answer = try await self.client.execute(HTTPClientRequest(request), deadline: self.deadline)
        return OperationHTTPResponse(
          status: Int(answer.status.code),
          fields: OperationHTTPFields(answer.headers.lazy.map { (name: $0.name, value: $0.value) }),
          body: OperationHTTPBody(AsyncHTTPClientBody(answer.body))
        )
      } catch {
        throw AsyncHTTPClientTransportError.describing(error)
      }
    }

    private var deadline: NIODeadline {
      // The client counts nanoseconds from the start of the machine, which overflow after 292 years.
      guard let timeout = self.timeout, timeout < .seconds(365 * 86_400) else { return .distantFuture }
      return .now() + TimeAmount(max(timeout, .zero))
    }
  }

  extension HTTPClient.Configuration {
    fileprivate static var failingAtOnce: Self {
      var configuration = Self.singletonConfiguration
      configuration.connectionPool.retryConnectionEstablishment = false
      return configuration
    }
  }

  extension HTTPClientRequest {
    fileprivate init(_ request: OperationHTTPRequest) {
      self.init(url: request.url.absoluteString)
      self.method = HTTPMethod(rawValue: request.method)
      for field in request.fields { self.headers.add(name: field.name, value: field.value) }
      // As one buffer, so that its length is known, and a redirection can send it again.
      if let body = request.body { self.body = .bytes(ByteBuffer(bytes: body)) }
    }
  }
#endif
