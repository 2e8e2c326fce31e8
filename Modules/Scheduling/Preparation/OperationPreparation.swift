public import OperationCore

/// Prepares the runs of an operation: runs the work of its conditions, evaluates them, and takes its categories.
///
/// `condition(_:)` and `mutuallyExclusive(_:)` apply it. Conditions and categories that are written next to each other
/// belong to one preparation.
public struct OperationPreparation<Operation: OperationRequest>: OperationModifier {
  /// The conditions and categories.
  @usableFromInline var steps = PreparationSteps.none
  /// How the denial of each condition becomes a failure of the operation.
  var failures: [PreparationFailure<Operation.Failure>] = []
  /// How a wait for categories that was too long becomes a failure of the operation; nil if it can be thrown as it is, or
  /// never is too long.
  var timeOutFailure: PreparationFailure<Operation.Failure>?

  mutating func append(
    _ condition: any OperationCondition,
    _ failure: @escaping @Sendable (any Error) -> Operation.Failure
  ) {
    self.failures.append(PreparationFailure(failure))
    self.steps = self.steps.adding(condition)
  }

  mutating func add(_ categories: [OperationCategory]) {
    self.steps = self.steps.adding(CategoryLane.lanes(of: categories))
  }

  mutating func add(
    _ categories: [OperationCategory],
    waitingAtMost wait: Duration,
    _ failure: @escaping @Sendable (OperationExclusionTimedOut) -> Operation.Failure
  ) {
    self.add(categories)
    self.steps = self.steps.waiting(atMost: wait)
    // The only error that it is called with.
    self.timeOutFailure = PreparationFailure { error in
      guard let error = error as? OperationExclusionTimedOut else {
        preconditionFailure("Not a wait: \(ShownText.of(error))")
      }
      return failure(error)
    }
  }

  public var sourceText: String { self.steps.sourceText }

  /// Runs the generated work, evaluates the conditions in order, takes the categories, and then runs the operation.
  ///
  /// A task that is cancelled meanwhile throws `CancellationError` if the failure of the operation can represent it.
  @inlinable
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if self.steps.hasConditions {
      let refusal = await self.steps.check(isolation: isolation, in: context, canLeave: Self.canLeave)
      if let refusal { throw self.failure(of: refusal, in: context) }
    }
    var scope: RunScope?
    if self.steps.hasCategories {
      scope = self.steps.tryEnter(Operation.self)
      if scope == nil {
        scope = try await self.enter(isolation: isolation, in: context)
      }
    }
    if context.hasScheduledStart { Self.noteStart(of: operation, in: context) }
    guard let scope else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    defer { self.steps.leave(scope) }
    return try await scope.perform {
      do throws(Operation.Failure) {
        return Result<Operation.Value, Operation.Failure>.success(
          try await operation.run(isolation: isolation, in: context, with: continuation)
        )
      } catch {
        return .failure(error)
      }
    }.get()
  }
}

/// How the denial of a condition becomes a failure of an operation.
struct PreparationFailure<Failure: Error>: Sendable {
  let map: @Sendable (any Error) -> Failure

  init(_ map: @escaping @Sendable (any Error) -> Failure) {
    self.map = map
  }
}

extension OperationPreparation {
  /// Whether the failure of the operation can represent a `CancellationError`, so that a cancelled run can leave.
  @inlinable
  static var canLeave: Bool {
    Operation.Failure.self == (any Error).self || Operation.Failure.self == CancellationError.self
  }

  // What follows is rare, and not inlined: an async function would allocate memory for it in each call.

  @usableFromInline
  func failure(of refusal: PreparationRefusal, in context: OperationContext) -> Operation.Failure {
    // A group that no scheduler runs cannot begin anymore: nothing else would end its operations.
    if OperationTraits.of(Operation.self).hasSetup { context.scheduledGroup?.refuseGroup(self.error(of: refusal)) }
    return switch refusal {
    case .denied(let index, let error): self.failures[index].map(error)
    case .skipped(let index): self.failures[index].map(self.steps.skipped(by: index))
    case .cancelled: Self.cancellation
    }
  }

  private func error(of refusal: PreparationRefusal) -> any Error {
    switch refusal {
    case .denied(_, let error): error
    case .skipped(let index): self.steps.skipped(by: index)
    case .cancelled: CancellationError()
    }
  }

  private static var cancellation: Operation.Failure {
    guard let cancellation = CancellationError() as? Operation.Failure else {
      preconditionFailure("A run leaves only if it can throw a CancellationError.")
    }
    return cancellation
  }

  /// Waits for the categories. Returns nil if the run continues without them: they would be waited for in a cycle, or a
  /// deadline inside has passed.
  @usableFromInline
  func enter(
    isolation: isolated (any Actor)?,
    in context: OperationContext
  ) async throws(Operation.Failure) -> RunScope? {
    let scope = RunScope(parent: .current, operationType: Operation.self)
    let outcome = await ExclusionLock.wait(
      scope,
      self.steps.lanes,
      in: context,
      atMost: self.longestWait(in: context),
      canLeave: Self.canLeave,
      isolation: isolation
    )
    switch outcome {
    case .left:
      throw Self.cancellation
    case .timedOut:
      try self.endWait(of: scope, in: context)
      return nil
    case .admitted:
      guard Task.isCancelled, Self.canLeave else { return scope }
      ExclusionLock.leave(scope, self.steps.slots)
      throw Self.cancellation
    case .cycle(let cycle):
      if let failure = cycle.report() as? Operation.Failure { throw failure }
      // The failure cannot represent the cycle, which was reported: the run continues, as it would wait forever.
      return nil
    }
  }

  /// Reports the start of the body to the scheduler, if no preparation is inside of this one.
  @usableFromInline
  static func noteStart(of operation: Operation, in context: OperationContext) {
    guard let start = context.scheduledStart else { return }
    let traits = OperationTraits.of(Operation.self)
    guard !traits.hasPreparation, !(traits.isErased && operation.hidesPreparation) else { return }
    start.node.start()
  }
}
