import FoundationEssentials
import OperationCore
import OperationTesting
import Testing

extension OperationScript {
  /// A query of this script that runs on subscription.
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

/// The parts of a state that a cancelled run must leave as they were.
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
