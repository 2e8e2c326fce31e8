import OperationCore
import OperationTesting
import OperationTimeout
import Synchronization

typealias IntScript = OperationScript<Int, any Error>

/// A failure type that cannot represent a cancellation.
enum NarrowFailure: Error, Hashable {
  case refused
  case slow(Duration)
}

struct Refused: Error, Hashable {
  var number = 0
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

/// An operation that does what a closure says.
struct Work<Value: Sendable, Failure: Error>: OperationRequest, Sendable {
  let body: @Sendable (OperationContext, OperationContinuation<Value, Failure>) async throws(Failure) -> Value

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Value, Failure>
  ) async throws(Failure) -> Value {
    try await self.body(context, continuation)
  }
}

/// Collects values, in order.
final class Log<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var elements: [Element] { self.state.withLock { $0 } }

  func append(_ element: Element) {
    self.state.withLock { $0.append(element) }
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
