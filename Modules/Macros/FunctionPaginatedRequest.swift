#if SwiftOperationMacros
  public import OperationCore
  public import OperationPagination

  /// The circumstances in which a page is loaded, in the code that `@PaginatedRequest` generates.
  public typealias FunctionPaging<PageID: Hashable & Sendable, PageValue: Sendable> = Paging<PageID, PageValue>

  /// The paginated request that `@PaginatedRequest` makes of a function. `Origin` identifies the function.
  public struct FunctionPaginatedRequest<Origin, PageID: Hashable & Sendable, PageValue: Sendable, PageFailure: Error>:
    PaginatedRequest
  {
    /// The state of the request's stores.
    public typealias State = PaginatedState<PageID, PageValue, PageFailure>

    /// Calls the function with the stored arguments of the request and the identifier of a page.
    public typealias Body =
      @Sendable (
        isolated (any Actor)?, PageID, Paging<PageID, PageValue>, OperationContext,
        OperationContinuation<PageValue, PageFailure>
      ) async throws(PageFailure) -> PageValue

    /// The path of the request.
    public let path: OperationPath

    /// The identifier of the page that is loaded when there are no pages.
    public let initialPageId: PageID

    /// The name of the function, with the type that it belongs to.
    public var operationName: String { self.name.text }

    private let name: FunctionName
    private let next: FunctionNeighbour<PageID, PageValue>
    private let previous: FunctionNeighbour<PageID, PageValue>
    private let body: Body

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - owner: The type that the function belongs to; nil for a global function.
    ///   - peer: The generated member that creates the request.
    ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
    ///   - next: Where the identifier of the page after a page comes from.
    ///   - previous: Where the identifier of the page before a page comes from.
    ///   - body: Calls the function.
    @_disfavoredOverload
    public init(
      path: OperationPath,
      of owner: (any Any.Type)? = nil,
      peer: StaticString = #function,
      initialPageId: PageID,
      next: FunctionNeighbour<PageID, PageValue>,
      previous: FunctionNeighbour<PageID, PageValue> = .none,
      body: @escaping Body
    ) {
      self.path = path
      self.name = FunctionName(owner: owner, peer: peer)
      self.initialPageId = initialPageId
      self.next = next
      self.previous = previous
      self.body = body
    }

    /// Creates a request whose identifiers are optional: nil names the first page, and no page next to another.
    ///
    /// - Parameters:
    ///   - path: The path of the request.
    ///   - owner: The type that the function belongs to; nil for a global function.
    ///   - peer: The generated member that creates the request.
    ///   - initialPageId: The identifier of the page that is loaded when there are no pages.
    ///   - next: Where the identifier of the page after a page comes from.
    ///   - previous: Where the identifier of the page before a page comes from.
    ///   - body: Calls the function.
    public init<Wrapped>(
      path: OperationPath,
      of owner: (any Any.Type)? = nil,
      peer: StaticString = #function,
      initialPageId: PageID,
      next: FunctionNeighbour<PageID, PageValue>,
      previous: FunctionNeighbour<PageID, PageValue> = .none,
      body: @escaping Body
    ) where PageID == Wrapped? {
      self.path = path
      self.name = FunctionName(owner: owner, peer: peer)
      self.initialPageId = initialPageId
      self.next = next.endingAtNil()
      self.previous = previous.endingAtNil()
      self.body = body
    }

    /// Returns the identifier that the argument `next` of the macro determines.
    public func pageId(
      after page: Page<PageID, PageValue>,
      using paging: Paging<PageID, PageValue>,
      in context: OperationContext
    ) -> PageID? {
      self.next.pageId(page, paging, context)
    }

    /// Returns the identifier that the argument `previous` of the macro determines.
    public func pageId(
      before page: Page<PageID, PageValue>,
      using paging: Paging<PageID, PageValue>,
      in context: OperationContext
    ) -> PageID? {
      self.previous.pageId(page, paging, context)
    }

    /// Calls the function for a page.
    public func fetchPage(
      isolation: isolated (any Actor)?,
      using paging: Paging<PageID, PageValue>,
      in context: OperationContext,
      with continuation: OperationContinuation<PageValue, PageFailure>
    ) async throws(PageFailure) -> PageValue {
      try await self.body(isolation, paging.pageId, paging, context, continuation)
    }
  }
#endif
