package import OperationCore
package import OperationTesting
package import Testing

package typealias IntState = QueryState<Int, any Error>
package typealias IntStore = OperationStore<IntState>
package typealias IntScript = OperationScript<Int, any Error>
package typealias IntRecorder = EventRecorder<IntState>
package typealias IntQuery = ScriptedQuery<Int, any Error>

extension Task where Failure == any Error {
  /// The value of the task, or an issue when that takes too long.
  package func finished(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Success {
    try await withTimeLimit("a task to end", sourceLocation: sourceLocation) { try await self.value }
  }
}

extension Task where Failure == Never {
  /// The value of the task, or an issue when that takes too long.
  package func finished(sourceLocation: SourceLocation = #_sourceLocation) async throws -> Success {
    try await withTimeLimit("a task to end", sourceLocation: sourceLocation) { await self.value }
  }
}

/// A number that contexts carry.
package enum NumberKey: OperationContext.Key {
  package static let defaultValue = 0
}

/// The warnings that `body` causes, which are reported to no other recorder.
package func warnings(_ body: () -> Void) -> [OperationWarning] {
  let recorder = WarningRecorder()
  recorder.recording(body)
  return recorder.warnings
}
