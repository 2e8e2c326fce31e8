public import OperationCore
public import OperationFoundation
internal import OperationFreshness

/// A query that is one request to an HTTP server.
///
/// ```swift
/// let query = HTTPQuery(url).decode(Post.self)
/// let store = client.store(for: query.retry(limit: 3))
/// ```
///
/// What the server says about it counts: the value is fresh for as long as `Cache-Control` and `Expires` say. Then the
/// next request asks with `ETag` or `Last-Modified`, and the value stays where the answer is 304. A status outside of 200 to
/// 299 is an ``OperationHTTPStatusError``, which a retry understands.
///
/// Its path is the method and the address, as text, and the header fields and the body where it has some. Name a path to
/// choose yourself, `HTTPQuery(url, path: ["posts", id])`: where the address has a secret, as paths are shown, and where two
/// queries read the same address as different values.
public struct HTTPQuery<Value: Sendable>: QueryRequest {
  /// Reads the value from an answer.
  typealias Reading =
    @Sendable (
      OperationHTTPResponse, OperationContext, OperationContinuation<Value, any Error>
    ) async throws -> Value

  /// The state of the query's stores.
  public typealias State = QueryState<Value, any Error>

  /// The request, without what each run adds to it.
  public let request: OperationHTTPRequest

  /// The path of the query.
  public let path: OperationPath

  /// The name of the query in logs, metrics and traces: the method and the host, unless it is given.
  public let operationName: String

  let isShared: Bool
  private let query: ModifiedOperation<Fetch, HonoredFreshness<Fetch>>

  init(
    _ request: OperationHTTPRequest,
    _ path: OperationPath,
    named operationName: String,
    isShared: Bool,
    absent: (@Sendable () -> Value)? = nil,
    reading: @escaping Reading
  ) {
    self.request = request
    self.path = path
    self.operationName = operationName
    self.isShared = isShared
    self.query = Fetch(request: request, path: path, isShared: isShared, absent: absent, reading: reading)
      .honoringFreshness()
  }

  /// Adds the rule of freshness to the context of a store.
  public func setup(context: inout OperationContext) {
    self.query.setup(context: &context)
  }

  /// Sends the request, and reads the answer.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, any Error>
  ) async throws -> Value {
    try await self.query.run(isolation: isolation, in: context, with: continuation)
  }
}

extension HTTPQuery where Value == Data {
  /// Creates a query for the body of an answer. See ``decode(_:decoder:)`` for values.
  ///
  /// - Parameters:
  ///   - url: The address.
  ///   - method: The method.
  ///   - fields: The header fields.
  ///   - body: The body; nil for none.
  ///   - path: The path of the query; nil for the one that follows from the request.
  ///   - operationName: The name of the query, without data of users; nil for the method and the host.
  ///   - isShared: Whether several users share the value, as in a service: then `s-maxage` counts, and an answer that is
  ///     `private` is neither fresh nor stored.
  public init(
    _ url: URL,
    method: String = "GET",
    fields: OperationHTTPFields = [:],
    body: Data? = nil,
    path: OperationPath? = nil,
    operationName: String? = nil,
    isShared: Bool = false
  ) {
    let request = OperationHTTPRequest(url, method: method, fields: fields, body: body)
    self.init(request, path: path, operationName: operationName, isShared: isShared)
  }

  /// Creates a query for the body of an answer.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - path: The path of the query; nil for the one that follows from the request.
  ///   - operationName: The name of the query, without data of users; nil for the method and the host.
  ///   - isShared: Whether several users share the value, as in a service: then `s-maxage` counts, and an answer that is
  ///     `private` is neither fresh nor stored.
  public init(
    _ request: OperationHTTPRequest,
    path: OperationPath? = nil,
    operationName: String? = nil,
    isShared: Bool = false
  ) {
    self.init(
      request,
      path ?? request.path,
      named: operationName ?? "\(request.method) \(request.url.host() ?? "")",
      isShared: isShared
    ) { response, _, _ in try await response.data() }
  }
}

extension OperationHTTPRequest {
  /// The path of a query with this request.
  fileprivate var path: OperationPath {
    let path: OperationPath = [self.method, self.url.absoluteString]
    return self.fields.isEmpty && self.body == nil ? path : path.appending(RequestContent(request: self))
  }
}

/// What two requests to one address differ in, for a path. Its text shows no secrets.
private struct RequestContent: Hashable, Sendable, CustomStringConvertible {
  let request: OperationHTTPRequest

  var description: String {
    let body = self.request.body.map { ", \($0.count) bytes" } ?? ""
    return "\(self.request.fields)\(body)"
  }
}
