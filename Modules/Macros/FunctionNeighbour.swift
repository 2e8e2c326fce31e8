#if SwiftOperationMacros
  public import OperationCore
  public import OperationPagination

  /// Where the identifier of the page after or before a page comes from, in the code that `@PaginatedRequest` generates.
  public struct FunctionNeighbour<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
    /// Returns the identifier of the page next to a page; nil if there is none.
    public typealias Body = @Sendable (Page<PageID, PageValue>, Paging<PageID, PageValue>, OperationContext) -> PageID?

    let pageId: Body

    /// There never is such a page.
    public static var none: Self { Self { _, _, _ in nil } }

    /// A property of the page's value.
    public static func property(_ property: @escaping @Sendable (PageValue) -> PageID?) -> Self {
      Self { page, _, _ in property(page.value) }
    }

    /// A closure, or a function that takes the page, its paging and the context.
    ///
    /// - Parameters:
    ///   - function: Returns the identifier.
    ///   - instance: Not used; the generated code passes it where the function may be a member of the instance.
    public init(_ function: @escaping Body, of instance: (any Sendable)? = nil) {
      self.pageId = function
    }

    /// A function that takes the page and its paging.
    public init(
      _ function: @escaping @Sendable (Page<PageID, PageValue>, Paging<PageID, PageValue>) -> PageID?,
      of instance: (any Sendable)? = nil
    ) {
      self.pageId = { page, paging, _ in function(page, paging) }
    }

    /// A function that takes the page.
    public init(
      _ function: @escaping @Sendable (Page<PageID, PageValue>) -> PageID?,
      of instance: (any Sendable)? = nil
    ) {
      self.pageId = { page, _, _ in function(page) }
    }

    /// A function of an instance that takes the page, its paging and the context.
    public init<Instance: Sendable>(
      _ function:
        @escaping @Sendable (Instance) -> (
          Page<PageID, PageValue>, Paging<PageID, PageValue>, OperationContext
        ) -> PageID?,
      of instance: Instance
    ) {
      self.pageId = { page, paging, context in function(instance)(page, paging, context) }
    }

    /// A function of an instance that takes the page and its paging.
    public init<Instance: Sendable>(
      _ function: @escaping @Sendable (Instance) -> (Page<PageID, PageValue>, Paging<PageID, PageValue>) -> PageID?,
      of instance: Instance
    ) {
      self.pageId = { page, paging, _ in function(instance)(page, paging) }
    }

    /// A function of an instance that takes the page.
    public init<Instance: Sendable>(
      _ function: @escaping @Sendable (Instance) -> (Page<PageID, PageValue>) -> PageID?,
      of instance: Instance
    ) {
      self.pageId = { page, _, _ in function(instance)(page) }
    }
  }

  extension FunctionNeighbour {
    /// The same, except that an identifier that is nil means that there is no such page.
    func endingAtNil<Wrapped>() -> Self where PageID == Wrapped? {
      Self { [pageId] page, paging, context in
        guard let id = pageId(page, paging, context), id != nil else { return nil }
        return id
      }
    }
  }
#endif
