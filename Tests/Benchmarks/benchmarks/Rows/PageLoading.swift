internal import OperationCore
internal import OperationPagination

extension Benchmark {
  /// The load of the next page of a list.
  static let paging = Benchmark(name: "pages") { harness in
    let section = "fetchNextPage"
    let numbers = [10, 2000]
    let timings = try await harness.times(of: numbers.map { .loadingPage($0) })
    return zip(numbers, timings).map { Row(section, "page \($0.grouped)", $1, bar: 150) }
      + [.growth(section, of: timings, bar: 1.5, gate: 3)]
  }
}

extension Measure {
  /// Loads the page with a number, in a store of its own that has the pages before it.
  fileprivate static func loadingPage(_ number: Int) -> Measure {
    let pages = Pages((0..<number - 1).map { Page(id: $0, value: [$0]) })
    return .prepared(count: 100) { count in
      (0..<count).map { _ in OperationStore.detached(query: ListQuery(), initialValue: pages) }
    } timed: { stores, _ in
      for store in stores { try await store.fetchNextPage() }
    } finish: { stores in
      precondition(stores.allSatisfy { $0.currentValue.count == number }, "a page is missing")
    }
  }
}

private struct ListQuery: PaginatedRequest {
  typealias PageID = Int
  typealias PageValue = [Int]
  typealias PageFailure = any Error

  let initialPageId = 0

  var path: OperationPath { ["list"] }

  func pageId(after page: Page<Int, [Int]>, using paging: Paging<Int, [Int]>, in context: OperationContext) -> Int? {
    page.id + 1
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, [Int]>,
    in context: OperationContext,
    with continuation: OperationContinuation<[Int], any Error>
  ) async throws -> [Int] {
    [paging.pageId]
  }
}
