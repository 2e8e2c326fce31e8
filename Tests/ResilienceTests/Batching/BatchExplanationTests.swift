import OperationBatching
import OperationCore
import OperationEvents
import OperationTesting
import TestFixtures
import Testing

/// What explanations and events tell of runs that wait for a batch.
@Suite(.bounded, .warningsAreIssues) struct BatchExplanationTests {
  @Test func `A run that loads a key waits for its batch, and an explanation and the events say so`() async throws {
    let batching = Batching(maximumSize: 2)
    let client = OperationClient(defaultContext: batching.context)
    let events = client.events
    let store = client.store(for: batching.batcher.query(for: 1, path: ["authors", 1]))
    let fetch = Task.immediate { try await store.fetch() }
    batching.clock.advance(by: .milliseconds(1))
    expect(store.explainedWaits, equals: ["a batch"])
    #expect(store.explanationText.contains("; it has waited for 1 ms for a batch."))
    let line = "\(store.operationName) at [\"authors\", 1] runs: waits for a batch"
    expect(client.waitGraph().description, equals: "The stores: 1 run\n\(line)")
    batching.endWindow()
    // Also while the request of the batch is under way.
    let batch = try await batching.next()
    expect(store.explainedWaits, equals: ["a batch"])
    batch.answer()
    try await expect(fetch.value, equals: "1")
    let kinds = try await withTimeLimit("the events") {
      var (kinds, iterator) = ([String](), events.makeAsyncIterator())
      while kinds.last?.hasPrefix("succeeded") != true, let event = await iterator.next() {
        kinds.append("\(event.what)")
      }
      return kinds
    }
    expect(
      kinds,
      equals: [
        "store added", "began", "waits for a batch", "has waited for 3 ms for a batch", "succeeded after 3 ms",
      ]
    )
    #expect(client.waitGraph().nodes.isEmpty)
  }
}

extension OperationStore {
  fileprivate var explainedWaits: [String] { self.explain().runs.flatMap(\.waits).map(\.subject) }

  fileprivate var operationName: String { self.explain().operationName ?? "" }
}
