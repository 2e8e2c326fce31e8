import Operation
import OperationTesting
import TestFixtures
import Testing

/// The types of modified operations. A type that named the operation twice would double its length with each layer.
@Suite(.bounded) struct ModifierTypeTests {
  @Test func `The type of a modified query names the query once`() {
    let query = ScriptedQuery(OperationScript<Int, any Error>())
      .retry(limit: 1)
      .backoff(.noBackoff)
      .delayer(.noDelay)
      .deduplicated()
      .stale(after: .seconds(1))
      .staleWhenNoValue()
      .rerun(every: .seconds(1))
      .handleEvents(with: QueryEventHandler())
      .defaultValue(1)
      .retry(limit: 1)
      .deduplicated()
      .disableAutomaticRunning()
      .satisfiedConnectionStatus(.connected)
      .evictWhen(pressure: .critical)
      .cacheTime(.seconds(1))
    expect(occurrences(of: "ScriptedQuery", in: type(of: query)), equals: 1)
    #expect(type(of: query).unmodifiedType == ScriptedQuery<Int, any Error>.self)
  }

  @Test func `The type of a modified mutation names the mutation once`() {
    let mutation = Counting()
      .scope("one at a time")
      .optimistic(on: ["feed"], of: QueryState<Int, any Error>.self) { _, _ in }
      .invalidates(matching: ["feed"])
      .maxHistory(length: 2)
      .retry(limit: 1)
      .handleEvents(with: MutationEventHandler())
      .defaultValue(1)
      .retry(limit: 1)
    expect(occurrences(of: "Counting", in: type(of: mutation)), equals: 1)
  }

  private func occurrences(of name: String, in type: any Any.Type) -> Int {
    "\(type)".split { !$0.isLetter }.count { $0 == name }
  }
}

private struct Counting: MutationRequest {
  var path: OperationPath { ["mutation"] }

  func mutate(
    isolation: isolated (any Actor)?,
    with arguments: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    arguments
  }
}
