import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Runs whose `Failure` cannot represent a `CancellationError`.
@Suite(.bounded, .warningsAreIssues)
struct TypedFailureTests {
  typealias Script = OperationScript<Int, Refused>
  typealias Store = OperationStore<QueryState<Int, Refused>>

  @Test
  func `A cancelled caller waits for the end of its run, which shows nothing`() async throws {
    let script = Script()
    let store = Store.detached(query: script.query(), initialValue: 1)
    let fetch = Task { () -> Result<Int, Refused> in
      do throws(Refused) { return .success(try await store.fetch()) } catch { return .failure(error) }
    }
    let run = try await script.next()
    run.yield(2)
    fetch.cancel()
    try await run.cancelled()
    expect(store.currentValue, equals: 1)
    #expect(!store.isLoading)
    run.fail(Refused(code: 3))
    try await expect(fetch.finished(), equals: .failure(Refused(code: 3)))
    expect(store.currentValue, equals: 1)
    expect(store.error, equals: nil)
    expect(store.errorUpdateCount, equals: 0)
  }

  @Test
  func `A store that cannot fail is fetched without a try`() async {
    let script = OperationScript<Int, Never>(default: .value(3))
    let store = OperationStore<QueryState<Int, Never>>.detached(query: script.query())
    let value = await store.fetch()
    expect(value, equals: 3)
    expect(store.status, equals: .result(.success(3)))
  }

  @Test
  func `The error of a store has the type of the operation's`() async {
    let script = Script(default: .error(Refused(code: 8)))
    let store = Store.detached(query: script.query())
    await #expect(throws: Refused(code: 8)) { try await store.fetch() }
    let error: Refused? = store.error
    expect(error, equals: Refused(code: 8))
    expect(store.status, equals: .result(.failure(Refused(code: 8))))
  }

  @Test
  func `A task that was cancelled before it began still has an outcome for its caller`() async throws {
    let script = Script(default: .value(6))
    let store = Store.detached(query: script.query())
    let task = store.fetchTask()
    task.cancel()
    let outcome = try await withTimeLimit("a cancelled task to end") { try await task.runIfNeeded() }
    expect(outcome, equals: 6)
    #expect(store.status.isIdle)
    #expect(!store.isLoading)
  }
}
