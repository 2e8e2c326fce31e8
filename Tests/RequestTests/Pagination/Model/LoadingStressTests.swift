import OperationCore
import OperationDedupe
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Many operations at once, for the thread sanitizer.
@Suite(.bounded, .warningsAreIssues)
struct LoadingStressTests {
  @Test(arguments: [false, true])
  func `Pages stay unique and in order under concurrent loads, edits, reads and subscriptions`(
    shares: Bool
  ) async throws {
    let server = ListServer(.value("x"))
    server.bounds = -60...60
    let store =
      shares
      ? ListStore.detached(query: server.request.deduplicated(), initialValue: List("a"))
      : ListStore.detached(query: server.request, initialValue: List("a"))
    let isInOrder = Mutex(true)
    let counts = Mutex((started: 0, ended: 0))
    let handler = PaginatedEventHandler<ListState>(
      onStateChanged: { state, _ in
        let ids = Array(state.currentValue.ids)
        if ids != ids.sorted() || Set(ids).count != ids.count { isInOrder.withLock { $0 = false } }
        _ = state.nextPageId
      },
      onPageFetchingStarted: { _, _ in counts.withLock { $0.started += 1 } },
      onPageFetchingEnded: { _, _ in counts.withLock { $0.ended += 1 } }
    )
    let subscription = store.subscribe(with: handler)
    await withDiscardingTaskGroup { group in
      for number in 0..<48 {
        group.addTask {
          switch number % 6 {
          case 0: _ = try? await store.fetchNextPage(handler: handler)
          case 1: _ = try? await store.fetchPreviousPage(handler: handler)
          case 2: _ = try? await store.refetchAllPages()
          case 3: store.withExclusiveAccess { $0.currentValue[id: 0]?.value = "edited \(number)" }
          case 4:
            let load = Task { try await store.fetchNextPage() }
            load.cancel()
            _ = await load.result
          default: _ = (store.hasNextPage, store.isLoading, store.currentValue.text)
          }
        }
      }
    }
    subscription.cancel()
    #expect(isInOrder.withLock { $0 })
    #expect(counts.withLock { $0.started == $0.ended })
    #expect(!store.isLoading)
    #expect(store.currentValue.count > 1)
  }

  @Test
  func `A handler is called by one thread at a time`() async throws {
    let server = ListServer(.value("x"))
    let store = ListStore.detached(query: server.request, initialValue: List("a"))
    let callers = Atomic(0)
    let wasAlone = Atomic(true)
    let note: @Sendable () -> Void = {
      if callers.add(1, ordering: .acquiringAndReleasing).newValue > 1 {
        wasAlone.store(false, ordering: .releasing)
      }
      callers.subtract(1, ordering: .acquiringAndReleasing)
    }
    let handler = PaginatedEventHandler<ListState>(
      onStateChanged: { _, _ in note() },
      onFetchingStarted: { _ in note() },
      onPageFetchingStarted: { _, _ in note() },
      onPageResultReceived: { _, _, _ in note() },
      onResultReceived: { _, _ in note() },
      onPageFetchingEnded: { _, _ in note() },
      onFetchingEnded: { _ in note() }
    )
    let subscription = store.subscribe(with: handler)
    await withDiscardingTaskGroup { group in
      for number in 0..<32 {
        group.addTask {
          _ = number.isMultiple(of: 2) ? try? await store.fetchNextPage() : try? await store.fetchPreviousPage()
          store.currentValue[id: 0]?.value = "edited"
        }
      }
    }
    subscription.cancel()
    let isAlone = wasAlone.load(ordering: .acquiring)
    #expect(isAlone)
  }
}
