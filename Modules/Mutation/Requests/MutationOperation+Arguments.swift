public import OperationCore

extension MutationOperation {
  /// Creates a mutation whose closure receives the second element of its path.
  ///
  /// ```swift
  /// MutationOperation("posts", id) { (id, title: String, context) in try await api.rename(id, to: title) }
  /// ```
  ///
  /// The elements of the path come first, then the arguments of a call. Write `_` for one that the closure does not need.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Arguments, OperationContext) async throws(MutateFailure) -> MutateValue
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      body: { arguments, context, _ throws(MutateFailure) in try await body(first, arguments, context) }
    )
  }

  /// Creates a mutation whose closure receives the second and the third element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, Arguments, OperationContext) async throws(MutateFailure) -> MutateValue
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      body: { arguments, context, _ throws(MutateFailure) in try await body(first, second, arguments, context) }
    )
  }
}

// Closures that throw nothing: the compiler would take `Never` for their failure, and stores of another type.
extension MutationOperation where MutateFailure == any Error {
  /// Creates a mutation whose closure receives the second element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Arguments, OperationContext) async -> MutateValue
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      body: { arguments, context, _ in await body(first, arguments, context) }
    )
  }

  /// Creates a mutation whose closure receives the second and the third element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the mutation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - operationName: The name of the mutation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Makes a call with the arguments, on no actor.
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, Arguments, OperationContext) async -> MutateValue
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      body: { arguments, context, _ in await body(first, second, arguments, context) }
    )
  }
}
