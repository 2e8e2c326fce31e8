public import OperationCore

extension QueryOperation where Failure == any Error {
  /// Creates a query whose value is made of the elements of a stream, which begins anew each time that it is opened.
  ///
  /// ```swift
  /// QueryOperation("price", streaming: .latest) { context in server.prices() }
  /// ```
  ///
  /// The stream is open while the store has subscribers. Its failure is the failure of the run: with a retry outside of the
  /// query it is opened again. What it has brought before stays until its first new element.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - accumulation: How the elements become the value.
  ///   - kind: What the value is between two elements. By default partial: never fresh.
  ///   - reconnectsAtEnd: Whether an end of the stream is a failure, a ``StreamEnded``, after which a retry opens it again.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - stream: Opens the stream, on no actor.
  public init<Elements: AsyncSequence & SendableMetatype>(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    streaming accumulation: StreamAccumulation<Elements.Element, Value>,
    yielding kind: CommittedValueKind = .partial,
    reconnectsAtEnd: Bool = false,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ stream: @escaping @Sendable (OperationContext) async throws -> Elements
  ) where Elements.Element: Sendable {
    let run = StreamRun<Elements.Element, Value, Never>(
      accumulation: accumulation,
      id: { _ in nil },
      kind: kind,
      reconnectsAtEnd: reconnectsAtEnd
    )
    self.init(of: run, at: element, elements, named: operationName, fileID, line) { _, context in
      try await stream(context)
    }
  }

  /// Creates a query whose value is made of the elements of a stream, which goes on after the last element.
  ///
  /// ```swift
  /// QueryOperation("chat", streaming: .append, id: \Message.id) { lastID, context in
  ///   server.messages(after: lastID)
  /// }
  /// ```
  ///
  /// The stream is open while the store has subscribers. When it has failed, a retry outside of the query opens it again
  /// after the last element that the store has, and so does the next subscriber. After an invalidation or a reset it begins
  /// anew.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - accumulation: How the elements become the value.
  ///   - kind: What the value is between two elements. By default partial: never fresh.
  ///   - id: Identifies an element to the server; returns nil for one after which the stream cannot go on.
  ///   - reconnectsAtEnd: Whether an end of the stream is a failure, a ``StreamEnded``, after which a retry opens it again.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - stream: Opens the stream after the element with an identifier, on no actor. Nil: from the beginning.
  public init<Elements: AsyncSequence & SendableMetatype, ID: Sendable>(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    streaming accumulation: StreamAccumulation<Elements.Element, Value>,
    yielding kind: CommittedValueKind = .partial,
    id: @escaping @Sendable (Elements.Element) -> ID?,
    reconnectsAtEnd: Bool = false,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ stream: @escaping @Sendable (ID?, OperationContext) async throws -> Elements
  ) where Elements.Element: Sendable {
    let run = StreamRun(accumulation: accumulation, id: id, kind: kind, reconnectsAtEnd: reconnectsAtEnd)
    self.init(of: run, at: element, elements, named: operationName, fileID, line) { resumption, context in
      try await stream(resumption.lastID, context)
    }
  }

  /// Creates a query whose value is made of the elements of a stream, and whose closure receives the second element of its
  /// path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - accumulation: How the elements become the value.
  ///   - kind: What the value is between two elements. By default partial: never fresh.
  ///   - reconnectsAtEnd: Whether an end of the stream is a failure, a ``StreamEnded``, after which a retry opens it again.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - stream: Opens the stream, on no actor.
  public init<First: Hashable & Sendable, Elements: AsyncSequence & SendableMetatype>(
    _ element: some Hashable & Sendable,
    _ first: First,
    streaming accumulation: StreamAccumulation<Elements.Element, Value>,
    yielding kind: CommittedValueKind = .partial,
    reconnectsAtEnd: Bool = false,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ stream: @escaping @Sendable (First, OperationContext) async throws -> Elements
  ) where Elements.Element: Sendable {
    let run = StreamRun<Elements.Element, Value, Never>(
      accumulation: accumulation,
      id: { _ in nil },
      kind: kind,
      reconnectsAtEnd: reconnectsAtEnd
    )
    self.init(of: run, at: element, [first], named: operationName, fileID, line) { _, context in
      try await stream(first, context)
    }
  }

  /// Creates a query whose value is made of the elements of a stream, which goes on after the last element, and whose closure
  /// receives the second element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the query, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - accumulation: How the elements become the value.
  ///   - kind: What the value is between two elements. By default partial: never fresh.
  ///   - id: Identifies an element to the server; returns nil for one after which the stream cannot go on.
  ///   - reconnectsAtEnd: Whether an end of the stream is a failure, a ``StreamEnded``, after which a retry opens it again.
  ///   - operationName: The name of the query; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - stream: Opens the stream after the element with an identifier, on no actor. Nil: from the beginning.
  public init<First: Hashable & Sendable, Elements: AsyncSequence & SendableMetatype, ID: Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    streaming accumulation: StreamAccumulation<Elements.Element, Value>,
    yielding kind: CommittedValueKind = .partial,
    id: @escaping @Sendable (Elements.Element) -> ID?,
    reconnectsAtEnd: Bool = false,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ stream: @escaping @Sendable (First, ID?, OperationContext) async throws -> Elements
  ) where Elements.Element: Sendable {
    let run = StreamRun(accumulation: accumulation, id: id, kind: kind, reconnectsAtEnd: reconnectsAtEnd)
    self.init(of: run, at: element, [first], named: operationName, fileID, line) { resumption, context in
      try await stream(first, resumption.lastID, context)
    }
  }

  private init<Elements: AsyncSequence & SendableMetatype, ID: Sendable>(
    of run: StreamRun<Elements.Element, Value, ID>,
    at element: some Hashable & Sendable,
    _ elements: [any Hashable & Sendable],
    named operationName: String?,
    _ fileID: StaticString,
    _ line: UInt,
    _ open: @escaping StreamRun<Elements.Element, Value, ID>.Opening<Elements>
  ) {
    let kind = run.kind
    self.init(
      at: element,
      followedBy: elements,
      operationName: operationName,
      fileID: fileID,
      line: line,
      setUp: { $0.setUpStream(yielding: kind) },
      body: { context, continuation in try await run.perform(in: context, with: continuation, open) }
    )
  }
}
