/// A query made of a path and a closure.
///
/// ```swift
/// func post(_ id: Int) -> QueryOperation<Post, any Error> {
///   QueryOperation("posts", id) { id, context in try await api.post(id) }
/// }
///
/// let post = try await client.store(for: post(1).retry(limit: 3)).fetch()
/// ```
///
/// Two queries with the same path are the same query to a client, and their store keeps the closure of the first one.
/// So the path has to contain everything that the closure depends on. The closure receives the elements of the path after
/// the first one, up to three, and then the context: what it takes from there cannot be missing in the path. What it
/// captures is not compared.
///
/// `Failure` is `any Error` unless the closure or the type says otherwise: `{ id, context throws(Timeout) in … }`, or
/// `QueryOperation<Int, Timeout>("count") { … }`.
public struct QueryOperation<Value: Sendable, Failure: Error>: QueryRequest {
  /// The state of the query's stores.
  public typealias State = QueryState<Value, Failure>

  /// The path of the query.
  public let path: OperationPath

  /// The name of the query in logs, metrics and traces: by default the first element of the path, if it is a string.
  public let operationName: String

  private let body: @Sendable (OperationContext, OperationContinuation<Value, Failure>) async throws(Failure) -> Value

  private let setUp: (@Sendable (inout OperationContext) -> Void)?

  #if DEBUG
    private let source: CallSite?
  #endif

  init(
    at element: any Hashable & Sendable,
    _ elements: [any Hashable & Sendable],
    named operationName: String?,
    _ fileID: StaticString,
    _ line: UInt,
    setUp: (@Sendable (inout OperationContext) -> Void)? = nil,
    body: @escaping @Sendable (OperationContext, OperationContinuation<Value, Failure>) async throws(Failure) -> Value
  ) {
    self.path = OperationPath(elements: [element] + elements)
    self.operationName = operationName ?? OperationName.ofClosure(at: element, in: Self.self)
    self.setUp = setUp
    self.body = body
    #if DEBUG
      self.source = CallSite(fileID, line)
    #endif
  }

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (OperationContext) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { context, _ throws(Failure) in try await body(context) }
    )
  }

  /// Creates a query whose closure needs no context.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { _, _ throws(Failure) in try await body() }
    )
  }

  /// Creates a query that sets up its stores, for modules that make queries out of other closures.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - setUp: Configures the context of a store, as ``OperationRequest/setup(context:)`` does.
  ///   - body: Fetches the value, on no actor.
  public init(
    at element: some Hashable & Sendable,
    followedBy elements: [any Hashable & Sendable],
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    setUp: @escaping @Sendable (inout OperationContext) -> Void,
    body: @escaping @Sendable (OperationContext, OperationContinuation<Value, Failure>) async throws(Failure) -> Value
  ) {
    self.init(at: element, elements, named: operationName, fileID, line, setUp: setUp, body: body)
  }

  /// Configures the context as the module asks that has made the query; usually does nothing.
  public func setup(context: inout OperationContext) {
    self.setUp?(&context)
  }

  /// Calls the closure.
  public func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.body(context, continuation)
  }
}

// Closures that throw nothing: the compiler would take `Never` for their failure, and stores of another type.
extension QueryOperation where Failure == any Error {
  /// Creates a query whose closure throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (OperationContext) async -> Value
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { context, _ in await body(context) }
    )
  }

  /// Creates a query whose closure needs no context, and throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable () async -> Value
  ) {
    self.init(at: element, elements, named: operationName, fileID, line, body: { _, _ in await body() })
  }
}

extension OperationName {
  /// The name of an operation made of a closure: the first element of its path if it is a string, or else its type.
  ///
  /// - Parameters:
  ///   - element: The first element of the path.
  ///   - type: The type of the operation.
  /// - Returns: The name.
  public static func ofClosure(at element: any Hashable & Sendable, in type: any OperationRequest.Type) -> String {
    element as? String ?? self.of(type)
  }
}

extension QueryOperation: ClosureOperationRequest {
  /// Where the closure is written, for warnings; nil in release builds.
  public var location: CallSite? {
    #if DEBUG
      self.source
    #else
      nil
    #endif
  }
}

// In an extension of the protocol, so that a closure of the type's own initializers is preferred: of two parameters that
// could be either, the first is an element of the path, and not the context.
extension ClosureOperationRequest {
  /// Creates a query whose closure also receives the continuation, through which it can yield values.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<Fetched: Sendable, Thrown: Error>(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (OperationContext, OperationContinuation<Fetched, Thrown>) async throws(Thrown) -> Fetched
  ) where Self == QueryOperation<Fetched, Thrown> {
    self.init(at: element, elements, named: operationName, fileID, line, body: body)
  }

  /// Creates a query whose closure also receives the continuation, and throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<Fetched: Sendable>(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (OperationContext, OperationContinuation<Fetched, any Error>) async -> Fetched
  ) where Self == QueryOperation<Fetched, any Error> {
    self.init(at: element, elements, named: operationName, fileID, line, body: body)
  }
}
