import FoundationEssentials
package import OperationCore
package import OperationTesting
package import Testing

extension OperationScript {
  /// A query of this script that runs on subscription.
  package func automaticQuery(
    path: OperationPath? = nil
  ) -> ContextModifiedOperation<ScriptedQuery<Value, Failure>> {
    self.query(path: path).enableAutomaticRunning(onlyWhen: .always(true))
  }
}

extension OperationStore {
  /// Waits until the store has reached a state.
  package func reached(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: @escaping @Sendable (State) -> Bool
  ) async throws {
    let recorder = EventRecorder<State>()
    let subscription = self.subscribe(with: recorder.handler)
    defer { subscription.cancel() }
    try await recorder.firstState(sourceLocation: sourceLocation, where: condition)
  }
}

/// The parts of a state that a cancelled run must leave as they were.
package struct StateFacts: Equatable, Sendable {
  package var value: Int?
  package var valueCount: Int
  package var valueDate: Double?
  package var error: String?
  package var errorCount: Int
  package var errorDate: Double?
  package var isLoading: Bool
  package var status: String

  package init(_ state: IntState) {
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
