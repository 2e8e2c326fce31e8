import Operation
import OperationTesting
import TestFixtures
import Testing

/// A subscriber that a handler adds while the run before it is being cancelled gets a run of its own.
@Suite(.bounded, .warningsAreIssues)
struct RunsFromHandlersTests {
  private enum Ending: CaseIterable {
    case reset, cancelled
  }

  @Test(arguments: Ending.allCases)
  private func `A subscriber that the handler of an ending adds starts a run`(_ ending: Ending) async throws {
    let script = OperationScript<Int, any Error>()
    let client = OperationClient()
    let store = client.store(
      for: script.query(path: ["a"]).deduplicated().enableAutomaticRunning(onlyWhen: .always(true))
    )
    let added = Box<OperationSubscription?>(nil)
    let ends = Box(false)
    let add: @Sendable (QueryState<Int, any Error>, OperationContext) -> Void = { state, _ in
      guard ends.value, added.value == nil, !state.isLoading else { return }
      added.value = store.subscribe(with: OperationEventHandler())
    }
    let first = store.subscribe(with: OperationEventHandler())
    let listener = store.subscribe(with: OperationEventHandler(onStateChanged: add))
    defer { OperationSubscription.combined([first, listener, added.value].compactMap(\.self)).cancel() }
    let run = try await script.next()

    ends.value = true

    switch ending {
    case .reset:
      store.resetState()
    case .cancelled: Task.immediate { await client.cancel(matching: ["a"]) }
    }

    try await run.cancelled()

    let next = try await script.next()

    #expect(!next.isCancelled)

    let recorder = EventRecorder<QueryState<Int, any Error>>()
    let watching = store.subscribe(with: recorder.handler)
    defer { watching.cancel() }
    next.succeed(2)
    try await recorder.firstState { $0.currentValue == 2 }
    expect(store.currentValue, equals: 2)
    expect(script.runCount, equals: 2)
  }
}
