import OperationBatching
import OperationCore
import OperationDedupe
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct BatchedQueryTests {
  @Test func `The stores of several keys are loaded by one request, and cache their values`() async throws {
    let batching = Batching()
    let client = OperationClient(defaultContext: batching.context)
    let stores = (1...3).map { client.store(for: batching.batcher.query(for: $0)) }
    let fetches = stores.map { store in Task.immediate { try await store.fetch() } }
    batching.endWindow()
    let batch = try await batching.next()
    expect(batch.keys, equals: [1, 2, 3])
    #expect(batch.context.runningOperationStore == nil)
    batch.run.succeed([1: .success("one"), 2: .failure(Refused())])
    try await expect(fetches[0].value, equals: "one")
    await #expect(throws: Refused.self) { try await fetches[1].value }
    await #expect(throws: BatchAnswerMissing.self) { try await fetches[2].value }
    expect(stores[0].currentValue, equals: "one")
    #expect(stores[1].error is Refused)
    expect(client.store(for: BatchedQuery(1, in: batching.batcher)).currentValue, equals: "one")
  }

  @Test func `Deduplicated queries of one key count as one caller`() async throws {
    let batching = Batching()
    let query = batching.batcher.query(for: 1).deduplicated()
    let tasks = (0..<3).map { _ in
      Task.immediate {
        try await OperationRunner(operation: query, initialContext: batching.context).run(isolation: nil)
      }
    }
    batching.endWindow()
    try await batching.next().answer()
    for task in tasks { try await expect(task.value, equals: "1") }
  }

  @Test func `The path is unique to the batcher and the key, unless one is given`() {
    let (one, other) = (Batching().batcher, Batching().batcher)
    expect(one.query(for: 1).path, equals: BatchedQuery(1, in: one).path)
    #expect(one.query(for: 1).path != one.query(for: 2).path)
    #expect(one.query(for: 1).path != other.query(for: 1).path)
    expect(one.query(for: 1, path: ["authors", 1]).path, equals: ["authors", 1])
  }

  @Test func `A path has the name of the batcher, or a number`() {
    let named = OperationBatcher<Int, Int>(name: "authors") { _, _ in [:] }
    expect(named.query(for: 7).path, equals: ["BatchedQuery", "authors", 7])
    let same = OperationBatcher<Int, Int>(name: "authors") { _, _ in [:] }
    expect(same.query(for: 7).path, equals: named.query(for: 7).path)
    let unnamed = OperationBatcher<Int, Int> { _, _ in [:] }
    let text = unnamed.query(for: 7).path.description
    #expect(text.contains("batcher ") && !text.contains("ObjectIdentifier") && !text.contains("0x"))
  }

  @Test func `A cancelled run does not change the state`() async throws {
    let batching = Batching()
    let client = OperationClient(defaultContext: batching.context)
    let store = client.store(for: batching.batcher.query(for: 1))
    let fetch = Task.immediate { try await store.fetch() }
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    #expect(store.error == nil && !store.isLoading)
  }

  @Test func `Observers receive a notice of each batch`() async throws {
    let batching = Batching()
    let notices = NoticeLog()
    var context = batching.context
    context.operationNoticeObservers = [notices]
    let task = Task.immediate { [context] in try await batching.batcher.load(1, in: context) }
    let other = batching.load(2)
    batching.endWindow()
    try await batching.next().answer()
    _ = (try await task.value, try await other.value)
    expect(notices.descriptions, equals: ["batch.sent batch.size=2"])
  }
}
