import FoundationEssentials
import OperationCore
import OperationTesting
import Synchronization
import Testing

typealias IntState = QueryState<Int, any Error>
typealias IntStore = OperationStore<IntState>
typealias IntScript = OperationScript<Int, any Error>
typealias IntRecorder = EventRecorder<IntState>
typealias IntQuery = ScriptedQuery<Int, any Error>

/// The error of a body that fails.
struct Refused: Error, Hashable, CustomStringConvertible {
  var code = 0

  var description: String { "refused \(self.code)" }
}

/// What happened, in the order in which it was noted, by whoever noted it.
final class Journal: Sendable {
  private let entries = Mutex<[String]>([])

  var lines: [String] { self.entries.withLock { $0 } }

  func note(_ line: String) {
    self.entries.withLock { $0.append(line) }
  }
}

/// A number that any thread may change.
final class Counter: Sendable {
  private let count = Mutex(0)

  var value: Int { self.count.withLock { $0 } }

  /// Adds one, and returns the sum.
  @discardableResult
  func increment() -> Int {
    self.count.withLock { count in
      count += 1
      return count
    }
  }
}

/// A place for something that a handler is to find later.
final class Box<Value: Sendable>: Sendable {
  private let content: Mutex<Value>

  init(_ value: Value) {
    self.content = Mutex(value)
  }

  var value: Value {
    get { self.content.withLock { $0 } }
    set { _ = self.replace(with: newValue) }
  }

  /// Puts something in, and returns what was there.
  func replace(with new: Value) -> Value {
    self.content.withLock { value in
      let old = value
      value = new
      return old
    }
  }
}

extension Task where Failure == any Error {
  /// The value of the task, or an issue when that takes too long.
  func finished(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Success {
    try await withTimeLimit("a task to end", sourceLocation: sourceLocation) { try await self.value }
  }
}

extension Task where Failure == Never {
  /// The value of the task, or an issue when that takes too long.
  func finished(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Success {
    try await withTimeLimit("a task to end", sourceLocation: sourceLocation) { await self.value }
  }
}

extension OperationScript {
  /// A query of this script that runs when somebody subscribes.
  func automaticQuery(
    path: OperationPath? = nil
  ) -> ContextModifiedOperation<ScriptedQuery<Value, Failure>> {
    self.query(path: path).enableAutomaticRunning(onlyWhen: .always(true))
  }
}

extension OperationStore {
  /// Waits until the store has reached a state.
  func reached(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: @escaping @Sendable (State) -> Bool
  ) async throws {
    let recorder = EventRecorder<State>()
    let subscription = self.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await recorder.firstState(sourceLocation: sourceLocation, where: condition)
  }
}

/// What of a state a cancelled run must leave as it was.
struct StateFacts: Equatable, Sendable {
  var value: Int?
  var valueCount: Int
  var valueDate: Double?
  var error: String?
  var errorCount: Int
  var errorDate: Double?
  var isLoading: Bool
  var status: String

  init(_ state: IntState) {
    self.value = state.currentValue
    self.valueCount = state.valueUpdateCount
    self.valueDate = state.valueLastUpdatedAt?.timeIntervalSinceReferenceDate
    self.error = state.error.map { "\($0)" }
    self.errorCount = state.errorUpdateCount
    self.errorDate = state.errorLastUpdatedAt?.timeIntervalSinceReferenceDate
    self.isLoading = state.isLoading
    self.status = "\(state.status)"
  }
}
