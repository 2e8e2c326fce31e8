import Dispatch
import OperationDerivation
import OperationTesting
import SharingOperation
import TestFixtures
import Testing

/// Wrappers on the main actor of a query and of others that are derived from it.
@MainActor
@Suite(.bounded, .warningsAreIssues)
struct DerivedOnMainActorTests {
  /// What code on the main actor reads of two wrappers while a derived query runs on another thread.
  @MainActor private final class Reader {
    let first: SharedOperation<QueryState<Int, any Error>>
    let second: SharedOperation<QueryState<Int, any Error>>
    private(set) var pairs: [[Int?]] = []

    init(
      _ first: SharedOperation<QueryState<Int, any Error>>,
      _ second: SharedOperation<QueryState<Int, any Error>>
    ) {
      self.first = first
      self.second = second
    }

    func read() { self.pairs.append([self.first.wrappedValue, self.second.wrappedValue]) }
  }

  private let client = makeClient()
  private let hooks = Hooks()

  /// What derived queries do when they run.
  private final class Hooks: Sendable {
    private let hook = Locked<(@Sendable () -> Void)?>(nil)

    func set(_ hook: @escaping @Sendable () -> Void) { self.hook.withLock { $0 = hook } }
    func call() { self.hook.withLock { $0 }?() }
  }

  private var number: QueryOperation<Int, any Error> { QueryOperation("number") { _ in 1 } }

  /// The number times a factor.
  private func product(_ factor: Int) -> some QueryRequest<Int, any Error> {
    let (number, hooks) = (self.number.stale(after: .seconds(60)), self.hooks)
    return QueryOperation("product", factor) { context in
      let number = try await context.value(of: number)
      hooks.call()
      return number * factor
    }
    .derived()
  }

  /// Sets the number on another thread. In the run of each derived query, a job is added that reads both wrappers.
  private func setNumber(_ value: Int, readBy reader: Reader) async throws {
    let store = self.client.store(for: self.number.stale(after: .seconds(60)))
    self.hooks.set { Task { @MainActor in reader.read() } }
    await Task { @concurrent in store.currentValue = value }.value
    self.hooks.set {}
    // A job that was added after those of the change.
    await Task { @MainActor in reader.read() }.value
  }

  @Test func `A query and one derived from it change in one job`() async throws {
    let number = SharedOperation(self.number.stale(after: .seconds(60)), client: self.client)
    let product = SharedOperation(self.product(2), client: self.client)
    _ = try await product.load()
    let reader = Reader(number, product)
    reader.read()

    try await self.setNumber(5, readBy: reader)

    // A job of another priority may come before or after that of the change, and sees all of it or nothing.
    #expect(reader.pairs.first == [1, 2] && reader.pairs.last == [5, 10])
    #expect(reader.pairs.allSatisfy { [[1, 2], [5, 10]].contains($0) })
  }

  @Test func `The wrapper of the derived query may come first`() async throws {
    let product = SharedOperation(self.product(2), client: self.client)
    _ = try await product.load()
    let number = SharedOperation(self.number.stale(after: .seconds(60)), client: self.client)
    let reader = Reader(number, product)
    reader.read()

    try await self.setNumber(5, readBy: reader)

    // A job of another priority may come before or after that of the change, and sees all of it or nothing.
    #expect(reader.pairs.first == [1, 2] && reader.pairs.last == [5, 10])
    #expect(reader.pairs.allSatisfy { [[1, 2], [5, 10]].contains($0) })
  }

  @Test func `Two derived queries of one source change in one job, without a wrapper of the source`() async throws {
    let double = SharedOperation(self.product(2), client: self.client)
    let triple = SharedOperation(self.product(3), client: self.client)
    _ = try await double.load()
    _ = try await triple.load()
    let reader = Reader(double, triple)
    reader.read()

    try await self.setNumber(5, readBy: reader)

    #expect(reader.pairs.first == [2, 3] && reader.pairs.last == [10, 15])
    #expect(reader.pairs.allSatisfy { [[2, 3], [10, 15]].contains($0) })
  }

  @Test func `A job that comes while the thread makes the next change shows the change before`() async throws {
    let number = SharedOperation(self.number.stale(after: .seconds(60)), client: self.client)
    let product = SharedOperation(self.product(2), client: self.client)
    _ = try await product.load()
    let reader = Reader(number, product)
    let store = self.client.store(for: self.number.stale(after: .seconds(60)))
    let (hooks, hasRead, isDone) = (self.hooks, DispatchSemaphore(value: 0), Gate())

    // On a thread that may be blocked.
    DispatchQueue.global().async {
      store.currentValue = 5
      // The source has its next value, and the derived query has not: the thread waits until the main actor has read both.
      hooks.set {
        Task { @MainActor in
          reader.read()
          hasRead.signal()
        }
        hasRead.wait()
      }
      store.currentValue = 6
      hooks.set {}
      isDone.open()
    }
    try await isDone.wait()
    await Task { @MainActor in reader.read() }.value

    expect(reader.pairs.last, equals: [6, 12])
    #expect(reader.pairs.allSatisfy { [[1, 2], [5, 10], [6, 12]].contains($0) })
  }

  @Test func `A change on the main actor shows both at once`() async throws {
    let number = SharedOperation(self.number.stale(after: .seconds(60)), client: self.client)
    let product = SharedOperation(self.product(2), client: self.client)
    _ = try await product.load()

    number.wrappedValue = 5

    expect(number.wrappedValue, equals: 5)
    expect(product.wrappedValue, equals: 10)
  }
}
