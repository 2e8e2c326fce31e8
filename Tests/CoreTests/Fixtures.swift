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

/// A value that handlers on any thread read and replace.
final class Box<Value: Sendable>: Sendable {
  private let content: Mutex<Value>

  init(_ value: Value) {
    self.content = Mutex(value)
  }

  var value: Value {
    get { self.content.withLock { $0 } }
    set { _ = self.replace(with: newValue) }
  }

  /// Replaces the value, and returns the old one.
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

/// The same numbers for the same seed, so that a failure can be repeated (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    self.state = seed
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The warnings that `body` causes, which are reported to no other recorder.
func warnings(_ body: () -> Void) -> [OperationWarning] {
  let recorder = WarningRecorder()
  recorder.recording(body)
  return recorder.warnings
}
