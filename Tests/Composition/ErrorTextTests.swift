import Operation
import OperationChaos
import OperationFleet
import OperationFoundation
import OperationPersistence
import OperationScheduling
import TestFixtures
import Testing

/// What programs with Foundation show of the errors of the package.
@Suite(.bounded) struct ErrorTextTests {
  private static let errors: [any Error] = [
    OperationTimedOut(after: .seconds(1)),
    OperationWaitTimedOut(after: .seconds(1)),
    CircuitOpen(retryAfter: .seconds(5), name: "posts"),
    OperationRejected(retryAfter: nil, name: "posts"),
    BatchAnswerMissing(key: 1),
    BatchQueueFull(name: "posts", limit: 10),
    OperationSkipped(),
    OperationConditionDenied(conditionName: "connected"),
    ChaosFailure(run: 1),
    StorageError(code: .full, message: "The disk is full."),
    FleetError(code: .closed, message: "The server does not answer."),
  ]

  @Test func `A localized description is the description`() {
    for error in Self.errors {
      expect((error as? any LocalizedError)?.errorDescription, equals: "\(error)")
    }
  }
}
