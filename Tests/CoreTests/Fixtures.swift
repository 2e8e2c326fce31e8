import OperationCore
import OperationTesting
import Testing

typealias IntState = QueryState<Int, any Error>
typealias IntStore = OperationStore<IntState>
typealias IntScript = OperationScript<Int, any Error>
typealias IntRecorder = EventRecorder<IntState>
typealias IntQuery = ScriptedQuery<Int, any Error>

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
