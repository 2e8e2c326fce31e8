import OperationCore
import OperationMutation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Many calls at once, for the thread sanitizer.
@Suite(.bounded, .warningsAreIssues)
struct StressTests {
  private static let calls = 400

  @Test func `Of many calls on many threads, the updates of the successful ones stay`() async throws {
    let client = OperationClient()
    let query = ClosureQuery { [] }
    let feed = client.store(for: query, initialValue: [])
    let mutation = ClosureMutation<Int, Int, any Error> { number, _ in
      if number.isMultiple(of: 3) { throw Refused() }
      return number
    }.optimistic(on: ["feed"], of: QueryState<Set<Int>, any Error>.self) { $0?.insert($1) }
    let store = client.store(for: mutation)

    await withTaskGroup { group in
      for number in 0..<Self.calls {
        group.addTask {
          let call = Task { try await store.mutate(with: number) }
          if number % 7 == 1 { call.cancel() }
          _ = try? await call.value
        }
        if number.isMultiple(of: 5) {
          group.addTask {
            let late = client.store(for: ClosureQuery(number: number) { [] }, initialValue: [])
            client.clearStore(with: late.path)
          }
        }
      }
    }

    let value = try #require(feed.currentValue)
    #expect(value.allSatisfy { !$0.isMultiple(of: 3) })
    let certain = (0..<Self.calls).filter { !$0.isMultiple(of: 3) && $0 % 7 != 1 }
    #expect(value.isSuperset(of: certain))
    // No update is left in the store.
    feed.currentValue = []
    expect(feed.currentValue, equals: [])
  }

  @Test func `With refetches and changing subscribers, no update is left in the store`() async throws {
    let client = OperationClient()
    let feed = client.store(for: ClosureQuery { [] }, initialValue: [])
    let mutation = ClosureMutation<Int, Int, any Error> { number, _ in
      if number.isMultiple(of: 3) { throw Refused() }
      return number
    }
    .invalidates(matching: ["feed"])
    .optimistic(on: ["feed"], of: QueryState<Set<Int>, any Error>.self) { $0?.insert($1) }
    let store = client.store(for: mutation)
    await withTaskGroup { group in
      for number in 0..<Self.calls {
        group.addTask { _ = try? await store.mutate(with: number) }
        if number.isMultiple(of: 4) {
          group.addTask {
            let subscription = feed.subscribe(with: QueryEventHandler())
            await elsewhere()
            subscription.cancel()
          }
        }
      }
    }
    await feed.settled()
    feed.currentValue = [-1]
    expect(feed.currentValue, equals: [-1])
  }

  @Test func `Calls of a scope never run at once, and all that are not cancelled run`() async throws {
    let client = OperationClient()
    let counter = InsideCounter()
    let stores = (0..<4).map { number in
      client.store(
        for: ClosureMutation<Int, Int, any Error>(path: ["closure", number]) { number, _ in
          counter.enter()
          await elsewhere()
          counter.leave()
          return number
        }.scope("x")
      )
    }
    let values = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<Self.calls {
        group.addTask {
          let call = Task { try await stores[number % 4].mutate(with: number) }
          if number.isMultiple(of: 5) { call.cancel() }
          return try? await call.value
        }
      }
      return await group.reduce(into: Set<Int>()) { values, value in
        if let value { values.insert(value) }
      }
    }
    #expect(values.isSuperset(of: (0..<Self.calls).filter { !$0.isMultiple(of: 5) }))
    expect(counter.most, equals: 1)
  }
}

/// Counts the calls that run at the same time.
private final class InsideCounter: Sendable {
  private let content = Mutex((now: 0, most: 0))

  var most: Int { self.content.withLock { $0.most } }

  func enter() {
    self.content.withLock { content in
      content.now += 1
      content.most = max(content.most, content.now)
    }
  }

  func leave() {
    self.content.withLock { $0.now -= 1 }
  }
}

private struct ClosureQuery: QueryRequest {
  var number: Int?
  let body: @Sendable () async throws -> Set<Int>

  var path: OperationPath { self.number.map { ["feed", $0] } ?? ["feed"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Set<Int>, any Error>
  ) async throws -> Set<Int> {
    try await self.body()
  }
}

/// Suspends, so that another task can run.
private func elsewhere() async {
  await Task {}.value
}
