import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

/// Conditions of `||`, one of which would wait in a cycle.
@Suite(.bounded, .warningsAreIssues)
struct AlternativeCycleTests {
  private let operations = Log<ScheduledOperation<Void>>()

  @Test(arguments: [true, false])
  func `An alternative that waits in a cycle is reported only if the other one does not hold`(holds: Bool) async throws
  {
    let recorder = WarningRecorder()
    try await recorder.recording {
      let scheduler = OperationScheduler()
      scheduler.suspend()
      let waiting = ValueCondition(operations: self.operations)
      let waits = scheduler.schedule(
        ClosureOperation<Void>("A") { _ in }.condition(waiting || FixedCondition(isSatisfied: holds) || waiting)
      )
      self.operations.append(
        scheduler.schedule(ClosureOperation<Void>("B") { _ in }) { $0.addDependency(waits) }
      )
      scheduler.resume()
      if holds {
        try await waits.value
      } else {
        let error = await #expect(throws: OperationAlternativesDenied.self) { try await waits.value }
        expect(error?.errors.count { $0 is OperationCycleError }, equals: 2)
      }
      _ = try? await self.operations.all[0].value
    }
    expect(recorder.warnings.map(\.code), equals: (holds ? [] : [.taskCycle, .taskCycle]))
  }
}

/// Is satisfied when the first of some operations has a value.
private struct ValueCondition: OperationCondition {
  let operations: Log<ScheduledOperation<Void>>

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    do {
      try await self.operations.all[0].value
      return .satisfied
    } catch {
      return .denied(error)
    }
  }
}

private struct FixedCondition: OperationCondition {
  let isSatisfied: Bool

  func evaluate(in context: OperationContext) async -> OperationConditionResult {
    self.isSatisfied ? .satisfied : .denied(OperationConditionDenied(conditionName: "fixed"))
  }
}
