import Foundation
import OperationCore
import OperationDerivation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// That a query was found fresh is kept until something changes.
@Suite(.bounded, .warningsAreIssues) struct FreshMarkTests {
  /// A clock that counts how often it is read.
  private final class CountingClock: OperationClock, Sendable {
    private let seconds = Mutex(0.0)
    let reads = Counter()

    func now() -> Date {
      self.reads.increment()
      return Date(timeIntervalSinceReferenceDate: self.seconds.withLock { $0 })
    }

    func set(_ seconds: Double) { self.seconds.withLock { $0 = seconds } }
  }

  private typealias IntStore = OperationStore<QueryState<Int, any Error>>

  private let clock = CountingClock()
  private let client: OperationClient

  init() {
    var context = OperationContext()
    context.automaticRunningSpecification = .always(true)
    context.operationClock = self.clock
    self.client = OperationClient(defaultContext: context)
  }

  private func number(_ index: Int, freshFor seconds: Int) -> some QueryRequest<Int, any Error> {
    QueryOperation<Int, any Error>("number", index) { _ in index }.stale(after: .seconds(seconds))
  }

  /// The store of a sum, which has run.
  private func sum(
    of sources: [any QueryRequest<Int, any Error>]
  ) async throws -> IntStore {
    let query = QueryOperation<Int, any Error>("sum") { context in
      var sum = 0
      for source in sources { sum += try await Self.value(of: source, in: context) }
      return sum
    }
    let store = self.client.store(for: query.derived())
    _ = try await store.fetch()
    return store
  }

  private static func value(
    of query: some QueryRequest<Int, any Error>,
    in context: OperationContext
  ) async throws -> Int {
    try await context.value(of: query)
  }

  @Test func `Asking a query again does not ask its sources`() async throws {
    let sum = try await self.sum(of: (0..<100).map { self.number($0, freshFor: 100) })
    #expect(!sum.isStale)
    let before = self.clock.reads.value
    for _ in 0..<10 { #expect(!sum.isStale) }
    #expect(self.clock.reads.value - before <= 20)
  }

  @Test func `It is stale when the first of its sources is`() async throws {
    let sum = try await self.sum(of: [self.number(1, freshFor: 100), self.number(2, freshFor: 50)])
    for second in [0, 49] {
      self.clock.set(Double(second))
      #expect(!sum.isStale)
    }
    self.clock.set(50)
    #expect(sum.isStale)
    self.clock.set(49.5)
    #expect(!sum.isStale)
  }

  @Test func `A clock that was set back before the date of a value makes it stale`() async throws {
    self.clock.set(1_000)
    let sum = try await self.sum(of: [self.number(1, freshFor: 100)])
    #expect(!sum.isStale)
    self.clock.set(990)
    #expect(sum.isStale)
    self.clock.set(1_001)
    #expect(!sum.isStale)
  }

  @Test func `A change, an invalidation and the end of a source are seen at once`() async throws {
    let numbers = [self.number(1, freshFor: 100), self.number(2, freshFor: 100)]
    let sum = try await self.sum(of: numbers)
    #expect(!sum.isStale)
    let source = self.client.store(for: numbers[0])
    source.currentValue = 7
    #expect(sum.isStale)
    try await expect(sum.fetch(), equals: 9)
    #expect(!sum.isStale)
    self.client.invalidate(matching: ["number", 2])
    #expect(sum.isStale)
    try await expect(sum.fetch(), equals: 9)
    #expect(!sum.isStale)
    self.client.clearStores(matching: ["number", 1])
    #expect(sum.isStale)
  }

  @Test func `A source that answers an invalidation with an equal value leaves the query fresh`() async throws {
    let numbers = [self.number(1, freshFor: 100), self.number(2, freshFor: 100)]
    let sum = try await self.sum(of: numbers)
    let subscription = sum.subscribe(with: QueryEventHandler(), isolation: nil)
    self.client.invalidate(matching: ["number", 1], rerunning: .none)
    #expect(sum.isStale)
    await self.client.invalidate(matching: ["number", 1]).settled()
    await self.client.settledDerivations()
    #expect(!self.client.store(for: numbers[0]).isStale && !sum.isStale)
    expect(sum.valueUpdateCount, equals: 1)
    subscription.cancel()
  }

  @Test func `A source with a rule other than an age is asked each time`() async throws {
    let isStale = Mutex(false)
    let rule = QueryOperation<Int, any Error>("rule") { _ in 1 }
      .staleWhen { state, _ in state.valueUpdateCount == 0 || isStale.withLock { $0 } }
    let sum = try await self.sum(of: [self.number(1, freshFor: 100), rule])
    #expect(!sum.isStale)
    isStale.withLock { $0 = true }
    #expect(sum.isStale)
    isStale.withLock { $0 = false }
    #expect(!sum.isStale)
  }

  @Test func `A source with another clock is asked each time`() async throws {
    let other = CountingClock()
    let slow = QueryOperation<Int, any Error>("slow") { _ in 1 }.stale(after: .seconds(10)).clock(other)
    let sum = try await self.sum(of: [self.number(1, freshFor: 100), slow])
    #expect(!sum.isStale)
    other.set(10)
    #expect(sum.isStale)
  }

  @Test func `With many sources that have to be asked each is asked`() async throws {
    let stale = Mutex<Int?>(nil)
    let rules = (0..<40).map { index in
      QueryOperation<Int, any Error>("rule", index) { _, _ in 1 }
        .staleWhen { state, _ in state.valueUpdateCount == 0 || stale.withLock { $0 } == index }
    }
    let sum = try await self.sum(of: rules)
    #expect(!sum.isStale)
    for index in [0, 17, 39] {
      stale.withLock { $0 = index }
      #expect(sum.isStale)
    }
    stale.withLock { $0 = nil }
    #expect(!sum.isStale)
  }

  @Test func `A query that reads derived queries is stale with what those read`() async throws {
    let number = self.number(1, freshFor: 50)
    let double = QueryOperation<Int, any Error>("double") { try await 2 * $0.value(of: number) }.derived()
    let sum = try await self.sum(of: [double, self.number(2, freshFor: 100)])
    #expect(!sum.isStale)
    self.clock.set(49)
    #expect(!sum.isStale)
    self.clock.set(50)
    #expect(sum.isStale)
    self.clock.set(49)
    #expect(!sum.isStale)
    self.client.store(for: number).currentValue = 9
    #expect(sum.isStale)
  }
}
