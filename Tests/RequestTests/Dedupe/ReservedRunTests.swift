import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

/// Runs that others join, or cancel, between the call and the start.
@Suite(.bounded, .warningsAreIssues)
struct ReservedRunTests {
  private let client = OperationClient()
  private let script = IntScript()

  @Test
  func `A run that is cancelled before its start no longer counts as one of the subscribers`() async throws {
    let preparing = Preparing()
    let query = self.script.query(path: ["reserved"]).deduplicated()
      .enableAutomaticRunning(onlyWhen: .always(true)).context { $0.setRunPreparation(preparing) }
    let store = self.client.store(for: query)
    let subscription = Box(OperationSubscription.empty)
    let cancelling = Box<Task<Void, Never>?>(nil)
    preparing.action.value = { [client] in
      // The subscribers need a value, and own the run that is about to start.
      subscription.value = store.subscribe(with: QueryEventHandler(), isolation: nil)
      cancelling.value = Task.immediate { await client.cancel() }
    }
    await #expect(throws: CancellationError.self) { try await store.fetch() }
    await cancelling.value?.value
    expect(self.script.runCount, equals: 0)
    self.script.enqueue(.error(Refused()))
    let invalidation = self.client.invalidate()
    try await withTimeLimit("the invalidation to settle") { await invalidation.settled() }
    #expect(self.script.runCount == 1 && store.isStale)
    subscription.value.cancel()
  }
}

/// Performs an action before the first run.
private final class Preparing: OperationRunPreparation {
  let action = Box<(@Sendable () -> Void)?>(nil)

  func runWillBegin(of operation: any OperationRequest.Type, in context: inout OperationContext) {
    self.action.replace(with: nil)?()
  }

  func runDidEnd(in context: OperationContext) {}
}
