public import OperationCore

/// A paginated operation made of a path and closures.
///
/// ```swift
/// let feed = PaginatedOperation(
///   "feed",
///   initialPageId: 0,
///   pageIdAfter: { page in page.value.isEmpty ? nil : page.id + 1 },
///   body: { paging, context in try await api.posts(page: paging.pageId) }
/// )
///
/// let page = try await client.store(for: feed).fetchNextPage()
/// ```
///
/// Two operations with the same path are the same operation to a client, whose store keeps the closures that it was
/// made with. `PageFailure` is `any Error` unless the closure or the type says otherwise.
public struct PaginatedOperation<PageID: Hashable & Sendable, PageValue: Sendable, PageFailure: Error>:
  PaginatedRequest
{
  /// The state of the operation's stores.
  public typealias State = PaginatedState<PageID, PageValue, PageFailure>

  /// Returns the identifier of the page next to a page; nil if there is none.
  public typealias Neighbour = @Sendable (Page<PageID, PageValue>) -> PageID?

  /// The closure of an operation that yields values of a page.
  public typealias Body =
    @Sendable (
      Paging<PageID, PageValue>, OperationContext, OperationContinuation<PageValue, PageFailure>
    ) async throws(PageFailure) -> PageValue

  /// The path of the operation.
  public let path: OperationPath

  /// The name of the operation in logs, metrics and traces: by default the first element of the path, if it is a
  /// string.
  public let operationName: String

  /// The identifier of the page that is loaded when there are no pages.
  public let initialPageId: PageID

  private let pageIdAfter: Neighbour
  private let pageIdBefore: Neighbour
  private let body: Body

  #if DEBUG
    private let source: CallSite?
  #endif

  private init(
    at element: any Hashable & Sendable,
    _ elements: [any Hashable & Sendable],
    named operationName: String?,
    _ fileID: StaticString,
    _ line: UInt,
    initialPageId: PageID,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour,
    body: @escaping Body
  ) {
    self.path = OperationPath(elements: [element] + elements)
    self.operationName = operationName ?? OperationName.ofClosure(at: element, in: Self.self)
    self.initialPageId = initialPageId
    self.pageIdAfter = pageIdAfter
    self.pageIdBefore = pageIdBefore
    self.body = body
    #if DEBUG
      self.source = CallSite(fileID, line)
    #endif
  }

  /// Creates an operation whose closure also receives the continuation, through which it can yield values of the page.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body: @escaping Body
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: body
    )
  }

  /// Creates an operation.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  @_disfavoredOverload
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body: @escaping @Sendable (Paging<PageID, PageValue>, OperationContext) async throws(PageFailure) -> PageValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: { paging, context, _ throws(PageFailure) in try await body(paging, context) }
    )
  }

  /// Calls the closure for the page after a page.
  public func pageId(
    after page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID? {
    self.pageIdAfter(page)
  }

  /// Calls the closure for the page before a page.
  public func pageId(
    before page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID? {
    self.pageIdBefore(page)
  }

  /// Calls the closure that fetches a page.
  public func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext,
    with continuation: OperationContinuation<PageValue, PageFailure>
  ) async throws(PageFailure) -> PageValue {
    try await self.body(paging, context, continuation)
  }
}

// Closures that throw nothing: the compiler would take `Never` for their failure, and stores of another type.
extension PaginatedOperation where PageFailure == any Error {
  /// Creates an operation whose closure throws nothing, and receives the continuation, through which it can yield values.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body:
      @escaping @Sendable (
        Paging<PageID, PageValue>, OperationContext, OperationContinuation<PageValue, any Error>
      ) async -> PageValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: body
    )
  }

  /// Creates an operation whose closure throws nothing.
  ///
  /// - Parameters:
  ///   - element: The first element of the path. A string also names the operation, and must contain no user data then.
  ///   - elements: The other elements of the path.
  ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
  ///   - operationName: The name of the operation; nil for the default.
  ///   - fileID: The file of the closure, for warnings of debug builds.
  ///   - line: The line of the closure, for warnings of debug builds.
  ///   - pageIdAfter: Returns the identifier of the page after a page; nil if that is the last one.
  ///   - pageIdBefore: Returns the identifier of the page before a page; nil, as by default, if that is the first one.
  ///   - body: Fetches the page that `paging` names, on no actor.
  public init(
    _ element: some Hashable & Sendable,
    _ elements: any Hashable & Sendable...,
    initialPageId: PageID,
    operationName: String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    pageIdAfter: @escaping Neighbour,
    pageIdBefore: @escaping Neighbour = { _ in nil },
    body: @escaping @Sendable (Paging<PageID, PageValue>, OperationContext) async -> PageValue
  ) {
    self.init(
      at: element,
      elements,
      named: operationName,
      fileID,
      line,
      initialPageId: initialPageId,
      pageIdAfter: pageIdAfter,
      pageIdBefore: pageIdBefore,
      body: { paging, context, _ in await body(paging, context) }
    )
  }
}

extension PaginatedOperation: ClosureOperationRequest {
  /// Where the closure is written, for warnings; nil in release builds.
  public var location: CallSite? {
    #if DEBUG
      self.source
    #else
      nil
    #endif
  }
}
