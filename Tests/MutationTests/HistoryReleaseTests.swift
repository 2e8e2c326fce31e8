import OperationCore
import OperationMutation
import OperationTesting
import Synchronization
import Testing

/// What leaves the history of a mutation is released when no lock is held.
@Suite(.timeLimit(.minutes(1)), .warningsAreIssues)
struct HistoryReleaseTests {
  private typealias Store = OperationStore<MutationState<Reentrant, Reentrant, any Error>>

  private let mutation = ClosureMutation<Reentrant, Reentrant, any Error> { arguments, _ in arguments }

  private func call(_ store: Store, deaths: Deaths) async throws {
    try await store.mutate(
      with: Reentrant { [weak store] in
        deaths.count.wrappingAdd(1, ordering: .relaxed)
        // Each takes the lock of the store.
        _ = store?.state
        store?.subscribe(with: OperationEventHandler()).cancel()
      }
    )
  }

  @Test func `Old calls may use their store when they leave`() async throws {
    let deaths = Deaths()
    let store = Store.detached(mutation: self.mutation.maxHistory(length: 2))
    for _ in 0..<5 { try await self.call(store, deaths: deaths) }
    #expect(deaths.count.load(ordering: .relaxed) == 3)
    store.resetState()
    #expect(deaths.count.load(ordering: .relaxed) == 5)
  }
}

private final class Deaths: Sendable {
  let count = Atomic(0)
}

/// Calls back when it goes.
private final class Reentrant: Sendable {
  private let onDeath: @Sendable () -> Void

  init(_ onDeath: @escaping @Sendable () -> Void) {
    self.onDeath = onDeath
  }

  deinit {
    self.onDeath()
  }
}
