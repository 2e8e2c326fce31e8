import OperationCore
import OperationHooks
import OperationTesting
import Synchronization
import Testing

/// A queue of an author's own, whose cycles are found.
@Suite(.timeLimit(.minutes(10)), .warningsAreIssues)
struct TurnstileTests {
  private let turnstile = Turnstile("the turnstile")
  private let gate = Gate()

  private func store(
    _ number: Int,
    _ body: @escaping @Sendable () async throws -> Void = {}
  ) -> OperationStore<QueryState<Int, any Error>> {
    let query = QueryOperation<Int, any Error>("passer", number) { _ in
      try await body()
      return number
    }
    return .detached(query: query.queued(at: self.turnstile))
  }

  @Test
  func `Runs pass one at a time, in the order of the calls`() async throws {
    let gate = self.gate
    let first = self.store(0) { try await gate.wait() }
    let log = Mutex<[Int]>([])
    let others = (1...5).map { number in self.store(number) { log.withLock { $0.append(number) } } }
    let calls = ([first] + others).map { store in Task.immediate { try await store.fetch() } }
    #expect(self.turnstile.count == 6)
    #expect(log.withLock { $0 } == [])
    gate.open()
    for call in calls { _ = try await call.value }
    #expect(log.withLock { $0 } == [1, 2, 3, 4, 5])
    #expect(self.turnstile.count == 0)
  }

  @Test
  func `A run that is cancelled while it waits gives its place up`() async throws {
    let gate = self.gate
    let (first, second, third) = (self.store(0) { try await gate.wait() }, self.store(1), self.store(2))
    let calls = [first, second, third].map { store in Task.immediate { try await store.fetch() } }
    calls[1].cancel()
    await #expect(throws: CancellationError.self) { try await calls[1].value }
    #expect(self.turnstile.count == 2)
    gate.open()
    #expect(try await calls[2].value == 2)
    #expect(try await calls[0].value == 0)
    #expect(self.turnstile.count == 0)
  }

  @Test
  func `A run that waits for itself fails, and its cycle is reported`() async throws {
    let inner = self.store(1)
    let outer = self.store(0) { _ = try await inner.fetch() }
    let cycle = await expectWarning(.taskCycle) {
      await #expect(throws: OperationCycleError.self) { try await outer.fetch() }
    }
    #expect(cycle?.operationNames.first == "the turnstile")
    #expect(cycle?.operationNames.last == "the turnstile")
    #expect(self.turnstile.count == 0)
    // Nothing is left of it.
    #expect(try await inner.fetch() == 1)
  }

  @Test
  func `It keeps the rules of queues`() async throws {
    try await checkWaitNode { work in
      let turnstile = Turnstile("the turnstile")
      return (turnstile, QueryOperation("passer", body: work).queued(at: turnstile))
    }
  }

  @Test
  func `It keeps the rules of modifiers but one, as its runs wait for each other`() async throws {
    try await checkModifier(except: [.independence]) { $0.queued(at: Turnstile("the turnstile")) }
  }
}
