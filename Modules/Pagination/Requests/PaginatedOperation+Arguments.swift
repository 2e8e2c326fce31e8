public import OperationCore

extension PaginatedOperation {
  /// Creates an operation whose closure receives the second element of its path.
  ///
  /// ```swift
  /// PaginatedOperation(
  ///   "feeds",
  ///   user,
  ///   initialPageId: 0,
  ///   pageIdAfter: { page in page.value.isEmpty ? nil : page.id + 1 },
  ///   body: { user, paging, context in try await api.posts(of: user, page: paging.pageId) }
  /// )
  /// ```
  ///
  /// The elements of the path come first. Write `_` for one that the closure does not need.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body:
      @escaping @Sendable (
        First, Paging<PageID, PageValue>, OperationContext
      ) async throws(PageFailure) -> PageValue
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: { paging, context, _ throws(PageFailure) in try await body(first, paging, context) }
    )
  }

  /// Creates an operation whose closure receives the second and the third element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  @_disfavoredOverload
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body:
      @escaping @Sendable (
        First, Second, Paging<PageID, PageValue>, OperationContext
      ) async throws(PageFailure) -> PageValue
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: { paging, context, _ throws(PageFailure) in try await body(first, second, paging, context) }
    )
  }
}

// Closures that throw nothing: the compiler would take `Never` for their failure, and stores of another type.
extension PaginatedOperation where PageFailure == any Error {
  /// Creates an operation whose closure receives the second element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  public init<First: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body: @escaping @Sendable (First, Paging<PageID, PageValue>, OperationContext) async -> PageValue
  ) {
    self.init(
      at: element,
      [first],
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: { paging, context, _ in await body(first, paging, context) }
    )
  }

  /// Creates an operation whose closure receives the second and the third element of its path.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - first: The second element of the path, and the first parameter of the closure.
  ///   - second: The third element of the path, and the second parameter of the closure.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  public init<First: Hashable & Sendable, Second: Hashable & Sendable>(
    _ element: some Hashable & Sendable,
    _ first: First,
    _ second: Second,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body: @escaping @Sendable (First, Second, Paging<PageID, PageValue>, OperationContext) async -> PageValue
  ) {
    self.init(
      at: element,
      [first, second],
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: { paging, context, _ in await body(first, second, paging, context) }
    )
  }
}
