import OperationCore
import OperationTesting
import OperationTimeout
import Synchronization
import TestFixtures

typealias IntScript = OperationScript<Int, any Error>

/// A failure type that cannot represent a cancellation.
enum NarrowFailure: Error, Hashable {
  case refused
  case slow(Duration)
}

extension OperationRequest {
  /// Runs the operation on a manual clock, after a setup, as stores do.
  @discardableResult
  func run(
    on clock: ManualClock,
    with continuation: OperationContinuation<Value, Failure> = .init { _, _ in }
  ) async throws(Failure) -> Value {
    var context = OperationContext()
    context.use(clock)
    return try await OperationRunner(operation: self, initialContext: context)
      .run(isolation: nil, with: continuation)
  }

  /// Starts a run on a manual clock; the operation has begun when this returns.
  func begin(
    on clock: ManualClock,
    with continuation: OperationContinuation<Value, Failure> = .init { _, _ in }
  ) -> Task<Value, any Error> where Self: Sendable, Value: Sendable {
    Task.immediate { try await self.run(on: clock, with: continuation) }
  }
}

extension Log {
  /// A continuation that collects what is yielded.
  func continuation<Failure: Error>() -> OperationContinuation<Element, Failure> {
    OperationContinuation { result, _ in
      if case .success(let value) = result { self.append(value) }
    }
  }
}
