import OperationCore
import OperationTesting

/// The time of a run was over.
struct TookTooLong: Error {}

/// Leaves a run after a time, or when its caller is cancelled. The run is cancelled, and goes on.
struct Leaving<Operation: OperationRequest & Sendable>: OperationModifier
where Operation.Value: Sendable, Operation.Failure == any Error {
  let duration: Duration
  let clock: ManualClock

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    let end = AwaitedOutcome<Result<Operation.Value, any Error>?>()
    let run = Task.immediate {
      do {
        end.decide(.success(try await operation.run(isolation: nil, in: context, with: continuation)))
      } catch {
        end.decide(.failure(error))
      }
    }
    let leave: @Sendable () -> Void = {
      run.cancel()
      end.decide(nil)
    }
    let timer = self.clock.schedule(after: self.duration, leave)
    let outcome = await withTaskCancellationHandler {
      await end.value()
    } onCancel: {
      leave()
    }
    timer.cancel()
    guard let outcome else { throw Task.isCancelled ? CancellationError() : TookTooLong() }
    return try outcome.get()
  }
}

/// Makes two attempts of a run at once, and returns the value of the first one.
struct Doubling<Operation: OperationRequest & Sendable>: OperationModifier
where Operation.Value: Sendable, Operation.Failure == any Error {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    let attempts = (0..<2).map { _ in
      Task.immediate { try await operation.run(isolation: nil, in: context, with: continuation) }
    }
    let outcomes = [await attempts[0].result, await attempts[1].result]
    return try outcomes[0].get()
  }
}

/// Returns a value in place of an error.
struct Substituting<Operation: OperationRequest>: OperationModifier
where Operation.Value: Sendable, Operation.Failure == any Error {
  let value: Operation.Value

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    do {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    } catch {
      return self.value
    }
  }
}

extension OperationRequest where Self: Sendable, Value: Sendable, Failure == any Error {
  func leaving(after duration: Duration, by clock: ManualClock) -> ModifiedOperation<Self, Leaving<Self>> {
    self.modifier(Leaving(duration: duration, clock: clock))
  }

  func substituting(_ value: Value) -> ModifiedOperation<Self, Substituting<Self>> {
    self.modifier(Substituting(value: value))
  }

  func doubled() -> ModifiedOperation<Self, Doubling<Self>> { self.modifier(Doubling()) }
}
