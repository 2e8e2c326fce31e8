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

/// Lines in the order in which any thread noted them.
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

/// Calls back when it is released.
final class ReleaseCallback: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit { self.onRelease() }

  /// Does nothing: a closure that calls it holds the object.
  func touch() {}
}

/// A number that contexts carry.
enum NumberKey: OperationContext.Key {
  static let defaultValue = 0
}

/// The warnings that `body` causes, which are reported to no other recorder.
func warnings(_ body: () -> Void) -> [OperationWarning] {
  let recorder = WarningRecorder()
  recorder.recording(body)
  return recorder.warnings
}
