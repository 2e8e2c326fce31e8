public import OperationCore

/// A mutation made of a path and a closure.
///
/// ```swift
/// let create = MutationOperation("posts", "create") { (title: String, context) in
///   try await api.createPost(titled: title)
/// }
///
/// let post = try await client.store(for: create).mutate(with: "Hello")
/// ```
///
/// Two mutations with the same path are the same mutation to a client, whose store keeps the closure that it was made
/// with. Elements of the path after the first one can be parameters of the closure, before the arguments, so that the two
/// cannot differ. `MutateFailure` is `any Error` unless the closure or the type says otherwise.
public struct MutationOperation<Arguments: Sendable, MutateValue: Sendable, MutateFailure: Error>: MutationRequest {
  /// The state of the mutation's stores.
  public typealias State = MutationState<Arguments, MutateValue, MutateFailure>

  /// The closure of a mutation that yields values.
  public typealias Body =
    @Sendable (
      Arguments, OperationContext, OperationContinuation<MutateValue, MutateFailure>
    ) async throws(MutateFailure) -> MutateValue

  /// The path of the mutation.
  public let path: OperationPath

  /// The name of the mutation in logs, metrics and traces: by default the first element of the path, if it is a string.
  public let operationName: String

  private let body: Body

  #if DEBUG
    private let source: CallSite?
  #endif

  init(
    at element: any Hashable & Sendable,
    _ elements: [any Hashable & Sendable],
    named operationName: String?,
    _ fileID: StaticString,
    _ line: UInt,
    body: @escaping Body
  ) {
    self.path = OperationPath(elements: [element] + elements)
    self.operationName = operationName ?? OperationName.ofClosure(at: element, in: Self.self)
    self.body = body
    #if DEBUG
      self.source = CallSite(fileID, line)
    #endif
  }

  /// Creates a mutation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (Arguments, OperationContext) async throws(MutateFailure) -> MutateValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { arguments, context, _ throws(MutateFailure) in try await body(arguments, context) }
    )
  }

  /// Calls the closure.
  public func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Arguments,
    in context: OperationContext,
    with continuation: OperationContinuation<MutateValue, MutateFailure>
  ) async throws(MutateFailure) -> MutateValue {
    try await self.body(arguments, context, continuation)
  }
}

// Closures that throw nothing: the compiler would take `Never` for their failure, and stores of another type.
extension MutationOperation where MutateFailure == any Error {
  /// Creates a mutation whose closure throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (Arguments, OperationContext) async -> MutateValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { arguments, context, _ in await body(arguments, context) }
    )
  }
}

extension MutationOperation where Arguments == Void {
  /// Creates a mutation without arguments.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call, on no actor.
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (OperationContext) async throws(MutateFailure) -> MutateValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { _, context, _ throws(MutateFailure) in try await body(context) }
    )
  }
}

extension MutationOperation where Arguments == Void, MutateFailure == any Error {
  /// Creates a mutation without arguments whose closure throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call, on no actor.
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (OperationContext) async -> MutateValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      body: { _, context, _ in await body(context) }
    )
  }
}

extension MutationOperation: ClosureOperationRequest {
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
  /// Creates a mutation whose closure also receives the continuation, through which it can yield values.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  @_disfavoredOverload
  public init<Arguments: Sendable, Returned: Sendable, Thrown: Error>(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping MutationOperation<Arguments, Returned, Thrown>.Body
  ) where Self == MutationOperation<Arguments, Returned, Thrown> {
    self.init(at: element, elements, named: operationName, fileID, line, body: body)
  }

  /// Creates a mutation whose closure also receives the continuation, and throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  public init<Arguments: Sendable, Returned: Sendable>(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body:
      @escaping @Sendable (
        Arguments, OperationContext, OperationContinuation<Returned, any Error>
      ) async -> Returned
  ) where Self == MutationOperation<Arguments, Returned, any Error> {
    self.init(at: element, elements, named: operationName, fileID, line, body: body)
  }
}
