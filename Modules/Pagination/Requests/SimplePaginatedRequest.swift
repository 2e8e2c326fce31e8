public import OperationCore

/// A paginated request whose pages have one value each, and need no continuation.
///
/// ```swift
/// struct FeedQuery: SimplePaginatedRequest, Hashable {
///   let user: Int
///   let initialPageId = 0
///
///   var path: OperationPath { ["feeds", user] }
///
///   func pageId(after page: Page<Int, [Post]>, using paging: Paging<Int, [Post]>, in context: OperationContext) -> Int? {
///     page.value.isEmpty ? nil : page.id + 1
///   }
///
///   func fetchPage(using paging: Paging<Int, [Post]>, in context: OperationContext) async throws -> [Post] {
///     try await api.posts(of: user, page: paging.pageId)
///   }
/// }
/// ```
///
/// It is a ``PaginatedRequest`` in everything else. Conform to that one if the fetch of a page yields values before the
/// one that it returns.
public protocol SimplePaginatedRequest<PageID, PageValue, PageFailure>: PaginatedRequest {
  associatedtype PageID
  associatedtype PageValue
  associatedtype PageFailure
  associatedtype State = PaginatedState<PageID, PageValue, PageFailure>
  associatedtype Value = PaginatedOperationValue<PageID, PageValue>
  associatedtype Failure = PageFailure

  /// Returns the identifier of the page that comes after `page`, or nil if that is the last one.
  // Declared again, so that the types of a page are inferred also where `fetchPage` has another signature, and the compiler
  // asks for that function.
  func pageId(
    after page: Page<PageID, PageValue>,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) -> PageID?

  /// Fetches one page.
  ///
  /// It runs on the actor that the run is on: on none in a store. Written `@concurrent`, it never runs on an actor.
  ///
  /// - Parameters:
  ///   - paging: The page to fetch, and the request that it belongs to.
  ///   - context: The configuration and dependencies of this run.
  /// - Returns: The value of the page.
  /// - Throws: The failure of the fetch.
  nonisolated(nonsending) func fetchPage(
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext
  ) async throws(PageFailure) -> PageValue
}

extension SimplePaginatedRequest {
  /// Calls ``fetchPage(using:in:)``.
  public func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<PageID, PageValue>,
    in context: OperationContext,
    with continuation: OperationContinuation<PageValue, PageFailure>
  ) async throws(PageFailure) -> PageValue {
    try await self.fetchPage(using: paging, in: context)
  }
}
