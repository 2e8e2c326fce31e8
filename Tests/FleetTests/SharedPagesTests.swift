import OperationCore
import OperationFleet
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Paginated requests whose pages are queries that a fleet shares.
@Suite(.bounded, .warningsAreIssues) struct SharedPagesTests {
  private func pages(of fleet: Fleet, on node: Fleet.Node) -> some PaginatedRequest<Int, Reading, any Error> {
    PaginatedOperation<Int, Reading, any Error>(
      "items",
      "pages",
      initialPageId: 0,
      pageIdAfter: { $0.id < 2 ? $0.id + 1 : nil },
      body: { [client = node.client, name = node.name] paging, _ in
        try await client.store(for: fleet.query(paging.pageId, on: name)).fetch()
      }
    )
    .staleWhenNoValue()
    .enableAutomaticRunning(onlyWhen: .always(true))
  }

  /// Loads pages on a node, and returns when their runs began.
  private func load(_ count: Int, on node: Fleet.Node, of fleet: Fleet) -> [Int] {
    let store = node.client.store(for: self.pages(of: fleet, on: node))
    let pages = Box<[Int]>([])
    _ = fleet.perform {
      for _ in 0..<count { _ = try? await store.fetchNextPage() }
      pages.value = store.currentValue.map(\.value.began)
    }
    fleet.advance(by: .seconds(2))
    return pages.value
  }

  @Test func `Each page is fetched by one node, and all of them anew after an invalidation`() {
    let fleet = Fleet()
    let (a, b) = (fleet.addNode("a"), fleet.addNode("b"))
    let first = self.load(3, on: a, of: fleet)
    expect(first.count, equals: 3)
    expect(self.load(2, on: b, of: fleet), equals: Array(first.prefix(2)))
    expect(fleet.runs.count, equals: 3)
    // Below the path of the list and of its pages.
    b.client.invalidate(matching: ["items"])
    fleet.advance(by: .seconds(1))
    let stores = [a, b].map { $0.client.store(for: self.pages(of: fleet, on: $0)) }
    #expect(stores.allSatisfy { $0.isStale })
    let refetched = stores.map { store in
      let pages = Box<[Int]>([])
      _ = fleet.perform {
        _ = try? await store.refetchAllPages()
        pages.value = store.currentValue.map(\.value.began)
      }
      return pages
    }
    fleet.advance(by: .seconds(5))
    expect(refetched[0].value.count, equals: 3)
    expect(refetched[1].value, equals: Array(refetched[0].value.prefix(2)))
    #expect(refetched[0].value.allSatisfy { $0 > (first.max() ?? 0) })
    // One run for each page and freshness.
    expect(fleet.runs.count, equals: 6)
    for node in [a, b] { node.fleetNode.leave() }
  }
}
