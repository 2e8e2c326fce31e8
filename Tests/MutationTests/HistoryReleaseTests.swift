import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// Values that are removed from the history of a mutation are released after unlocking.
@Suite(.bounded, .warningsAreIssues)
struct HistoryReleaseTests {
  private typealias Store = OperationStore<MutationState<ReleaseCallback, ReleaseCallback, any Error>>

  private let mutation = ClosureMutation<ReleaseCallback, ReleaseCallback, any Error> { arguments, _ in arguments }

  private func call(_ store: Store, releases: Counter) async throws {
    try await store.mutate(
      with: ReleaseCallback { [weak store] in
        releases.increment()
        // Each call acquires the lock of the store.
        _ = store?.state
        store?.subscribe(with: OperationEventHandler()).cancel()
      }
    )
  }

  @Test func `Old calls may use their store when they are removed and released`() async throws {
    let releases = Counter()
    let store = Store.detached(mutation: self.mutation.maxHistory(length: 2))
    for _ in 0..<5 { try await self.call(store, releases: releases) }
    expect(releases.value, equals: 3)
    store.resetState()
    expect(releases.value, equals: 5)
  }
}
