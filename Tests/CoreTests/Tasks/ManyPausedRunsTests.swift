import CoreFixtures
import OperationCore
import OperationPausing
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Many paused runs at once.
@Suite(.boundedBeforeOthers, .warningsAreIssues, .serialized)
struct ManyPausedRunsTests {
  private let condition = SwitchSpecification(false)
  private let count = 10_000

  @Test
  func `Ten thousand paused runs of as many stores resume in the order in which they began`() async throws {
    let order = Mutex<[Int]>([])
    let bodies = Mutex<[Int]>([])
    let stores = (0..<self.count).map { number in
      OperationStore.detached(
        query: QueryOperation("query", number) { _ in
          bodies.withLock { $0.append(number) }
          return number
        }
        .waits(until: self.condition)
        .handleEvents(
          with: QueryEventHandler(onStateChanged: { state, _ in
            if state.isLoading, !state.isPaused { order.withLock { $0.append(number) } }
          })
        )
      )
    }
    let fetches = stores.map { store in Task.immediate { try await store.fetch() } }
    #expect(stores.allSatisfy { $0.isPaused })
    expect(self.condition.observerCount, equals: self.count)
    // The states before the pauses.
    order.withLock { $0 = [] }
    self.condition.set(true)
    for (number, fetch) in fetches.enumerated() { try await expect(fetch.finished(), equals: number) }
    expect(order.withLock { $0 }, equals: Array(0..<self.count))
    // The bodies run side by side, so a body may be overtaken when its thread is suspended just before it.
    expect(Set(bodies.withLock { $0 }).count, equals: self.count)
    expect(self.condition.observerCount, equals: 0)
  }

  @Test
  func `The paused runs of one store resume, and a time limit takes one deadline each`() async throws {
    let clock = ManualClock()
    let order = Mutex<[Int]>([])
    let query = QueryOperation("query") { context in
      order.withLock { $0.append(context[NumberKey.self]) }
      return context[NumberKey.self]
    }
    let store = OperationStore.detached(
      query: query.waits(until: self.condition, timeout: .seconds(60)).manualTime(clock)
    )
    let count = 1_000
    let fetches = (0..<count).map { number in
      var context = OperationContext()
      context[NumberKey.self] = number
      return Task.immediate { [context] in try await store.fetch(using: context) }
    }
    expect(clock.sleeperCount(), equals: count)
    self.condition.set(true)
    for (number, fetch) in fetches.enumerated() { try await expect(fetch.finished(), equals: number) }
    expect(order.withLock { $0.count }, equals: count)
    expect(clock.sleeperCount(), equals: 0)
    #expect(!store.isPaused && !store.isLoading)
  }

  @Test
  func `Cancelled at random while the condition flips, every run ends and nothing is left`() async throws {
    let tracker = LifetimeTracker()
    let store = OperationStore.detached(
      query: QueryOperation("query") { context in context[NumberKey.self] }.waits(until: self.condition)
    )
    try await withTimeLimit("all runs to end") { [condition] in
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          for flip in 0..<300 { condition.set(flip.isMultiple(of: 2)) }
          condition.set(true)
        }
        for number in 0..<500 {
          let token = tracker.token()
          group.addTask {
            var context = OperationContext()
            context[NumberKey.self] = number
            let fetch = Task { [context] in
              defer { token.touch() }
              return try await store.fetch(using: context)
            }
            if number.isMultiple(of: 3) { fetch.cancel() }
            let result = await withTaskCancellationHandler {
              await fetch.result
            } onCancel: {
              fetch.cancel()
            }
            switch result {
            case .success(let value): expect(value, equals: number)
            case .failure(let error): #expect(error is CancellationError)
            }
          }
        }
      }
    }
    #expect(!store.isPaused && !store.isLoading)
    expect(self.condition.observerCount, equals: 0)
    try await tracker.noneAlive()
  }
}
