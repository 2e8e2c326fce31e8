// One initializer for each number of elements: with Swift 6.3, a call of an async closure that has a parameter pack stops the
// program ("freed pointer was not the last allocation").

extension QueryOperation {
  /// Creates a query whose closure receives the second element of its path.
  ///
  /// ```swift
  /// QueryOperation("posts", id) { id, context in try await api.post(id) }
  /// ```
  ///
  /// The parameters have the types of the elements. Write `_` for one that the closure does not need.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, OperationContext) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      body: { context, _ throws(Failure) in try await body(first, context) }
    )
  }

  /// Creates a query whose closure receives the second element of its path, and the continuation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body:
      @escaping @Sendable (
        First, OperationContext, OperationContinuation<Value, Failure>
      ) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      body: { context, continuation throws(Failure) in try await body(first, context, continuation) }
    )
  }

  /// Creates a query whose closure receives the second and the third element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, OperationContext) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      body: { context, _ throws(Failure) in try await body(first, second, context) }
    )
  }

  /// Creates a query whose closure receives the second and the third element of its path, and the continuation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body:
      @escaping @Sendable (
        First, Second, OperationContext, OperationContinuation<Value, Failure>
      ) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      body: { context, continuation throws(Failure) in try await body(first, second, context, continuation) }
    )
  }

  /// Creates a query whose closure receives the second, the third and the fourth element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - third: The fourth element of the path, and the third parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable, Second: Hashable & Sendable, Third: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    _ third: Third,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, Third, OperationContext) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      [first, second, third],
      named: operationName,
      fileID,
      line,
      body: { context, _ throws(Failure) in try await body(first, second, third, context) }
    )
  }

  /// Creates a query whose closure receives the second, the third and the fourth element of its path, and the continuation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - third: The fourth element of the path, and the third parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable, Second: Hashable & Sendable, Third: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    _ third: Third,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body:
      @escaping @Sendable (
        First, Second, Third, OperationContext, OperationContinuation<Value, Failure>
      ) async throws(Failure) -> Value
  ) {
    self.init(
      at: element,
      [first, second, third],
      named: operationName,
      fileID,
      line,
      body: { context, continuation throws(Failure) in try await body(first, second, third, context, continuation) }
    )
  }
}

// Closures that throw nothing: the compiler would take `Never` for their failure, and stores of another type.
extension QueryOperation where Failure == any Error {
  /// Creates a query whose closure receives the second element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, OperationContext) async -> Value
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      body: { context, _ in await body(first, context) }
    )
  }

  /// Creates a query whose closure receives the second element of its path, and the continuation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, OperationContext, OperationContinuation<Value, any Error>) async -> Value
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      body: { context, continuation in await body(first, context, continuation) }
    )
  }

  /// Creates a query whose closure receives the second and the third element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, OperationContext) async -> Value
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      body: { context, _ in await body(first, second, context) }
    )
  }

  /// Creates a query whose closure receives the second and the third element of its path, and the continuation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, OperationContext, OperationContinuation<Value, any Error>) async -> Value
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      body: { context, continuation in await body(first, second, context, continuation) }
    )
  }

  /// Creates a query whose closure receives the second, the third and the fourth element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - third: The fourth element of the path, and the third parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<First: Hashable & Sendable, Second: Hashable & Sendable, Third: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    _ third: Third,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body: @escaping @Sendable (First, Second, Third, OperationContext) async -> Value
  ) {
    self.init(
      at: element,
      [first, second, third],
      named: operationName,
      fileID,
      line,
      body: { context, _ in await body(first, second, third, context) }
    )
  }

  /// Creates a query whose closure receives the second, the third and the fourth element of its path, and the continuation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - third: The fourth element of the path, and the third parameter of the closure.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - body: Fetches the value, on no actor.
  public init<First: Hashable & Sendable, Second: Hashable & Sendable, Third: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    _ third: Third,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    body:
      @escaping @Sendable (
        First, Second, Third, OperationContext, OperationContinuation<Value, any Error>
      ) async -> Value
  ) {
    self.init(
      at: element,
      [first, second, third],
      named: operationName,
      fileID,
      line,
      body: { context, continuation in await body(first, second, third, context, continuation) }
    )
  }
}
