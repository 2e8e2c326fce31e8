import Foundation
import OperationCore
import OperationDerivation
import OperationTesting
import Synchronization
import TestFixtures
import Testing

struct Missing: Error, Equatable {
  var name = ""
}

/// A remote number, which a test changes, fails or holds back.
final class Cell: Sendable {
  private struct Content: Sendable {
    var result: Result<Int, Missing>
    var gate: Gate?
    var runCount = 0
  }

  let name: String
  private let content: Mutex<Content>

  init(_ name: String, _ number: Int = 0) {
    self.name = name
    self.content = Mutex(Content(result: .success(number)))
  }

  var runCount: Int { self.content.withLock { $0.runCount } }

  func set(_ number: Int) { self.content.withLock { $0.result = .success(number) } }

  func fail() { self.content.withLock { $0.result = .failure(Missing(name: self.name)) } }

  /// Lets the runs from now on wait for the gate; nil for none.
  func hold(at gate: Gate?) { self.content.withLock { $0.gate = gate } }

  func fetch() async throws -> Int {
    let (gate, result) = self.content.withLock { content in
      content.runCount += 1
      return (content.gate, content.result)
    }
    if let gate { try await gate.wait() }
    return try result.get()
  }

  /// The query of the number, which is fresh once it has a value.
  var query: ContextModifiedOperation<CellQuery> { CellQuery(cell: self).staleWhenNoValue() }

  /// The query of the number without rules, which is always stale.
  var alwaysStale: CellQuery { CellQuery(cell: self) }
}

struct CellQuery: QueryRequest {
  let cell: Cell

  var path: OperationPath { ["cell", self.cell.name] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.cell.fetch()
  }
}

/// A derived number, with the number of calls of its body.
final class Derived: Sendable {
  let name: String
  let calls = Counter()
  private let body: @Sendable (OperationContext) async throws -> Int

  init(_ name: String, _ body: @escaping @Sendable (OperationContext) async throws -> Int) {
    self.name = name
    self.body = body
  }

  var query: some QueryRequest<Int, any Error> {
    QueryOperation<Int, any Error>("derived", self.name) { context in
      self.calls.increment()
      return try await self.body(context)
    }
    .derived()
  }
}

/// Subscribes to a store, and keeps what it shows.
final class Shown<Value: Sendable>: Sendable {
  let log = Log<Value>()
  private let slot = Mutex<OperationSubscription?>(nil)

  init(_ store: OperationStore<QueryState<Value, any Error>>) where Value: Equatable {
    let log = self.log
    let subscription = store.subscribe(
      with: QueryEventHandler(onStateChanged: { state, _ in
        if let value = state.currentValue, log.all.last != value { log.append(value) }
      }),
      isolation: nil
    )
    self.slot.withLock { $0 = subscription }
  }

  var all: [Value] { self.log.all }

  func end() {
    let subscription = self.slot.withLock { slot in
      defer { slot = nil }
      return slot
    }
    subscription?.cancel()
  }
}

extension OperationClient {
  /// A client whose operations run automatically.
  static func automatic() -> OperationClient {
    var context = OperationContext()
    context.automaticRunningSpecification = .always(true)
    return OperationClient(defaultContext: context)
  }
}

/// The seeds of a model test: one in 200 of the schedules that `MODEL_SCHEDULES` asks for, or `count`.
func modelSeeds(_ count: Int) -> Range<Int> {
  0..<ModelRuns.count(count, parts: 200)
}
