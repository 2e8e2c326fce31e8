public import OperationCore

/// A condition, and how its denial becomes a failure of the operation.
struct PreparationCheck<Failure: Error>: Sendable {
  let condition: any OperationCondition
  let failure: @Sendable (any Error) -> Failure
}

/// What comes before the runs of an operation: generated work, conditions, and the categories of the operation.
///
/// ``OperationCore/OperationRequest/condition(_:)`` and ``OperationCore/OperationRequest/mutuallyExclusive(_:)`` apply
/// it. Conditions and categories that are written next to each other belong to one preparation.
public struct OperationPreparation<Operation: OperationRequest>: OperationModifier {
  /// The conditions, in the order in which they were written.
  var checks: [PreparationCheck<Operation.Failure>] = []
  /// The categories.
  var lanes: [CategoryLane] = []
  /// The slots of the categories.
  private(set) var slots: [Int] = []

  mutating func append(
    _ condition: any OperationCondition,
    _ failure: @escaping @Sendable (any Error) -> Operation.Failure
  ) {
    self.checks.append(PreparationCheck(condition: condition, failure: failure))
    self.add(condition.exclusionCategories)
  }

  mutating func add(_ categories: [OperationCategory]) {
    guard !categories.isEmpty else { return }
    self.add(CategoryLane.lanes(of: categories))
  }

  mutating func add(_ lanes: [CategoryLane]) {
    for lane in lanes where !self.lanes.contains(where: { $0 === lane }) {
      self.lanes.append(lane)
      self.slots.append(lane.slot)
    }
  }

  /// Runs the generated work, evaluates the conditions in order, takes the categories, and then runs the operation.
  ///
  /// A task that is cancelled meanwhile throws `CancellationError` if the failure of the operation can represent it.
  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    if !self.checks.isEmpty { try await self.check(isolation: isolation, in: context) }
    guard !self.slots.isEmpty else {
      Self.noteStart(in: context)
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let scope = RunScope(parent: .current, operationType: Operation.unmodifiedType)
    let entry = await ExclusionLock.enter(
      scope,
      self.slots,
      in: context,
      canLeave: Self.cancellation != nil,
      isolation: isolation
    )
    switch entry {
    case .left:
      guard let cancellation = Self.cancellation else {
        preconditionFailure("A run leaves only if it can throw a CancellationError.")
      }
      throw cancellation
    case .circle(let names):
      let circle: Result<Operation.Value, Operation.Failure>? = Self.outcome(ofCircle: names)
      if let circle { return try circle.get() }
      // The failure cannot represent the circle: it was reported, and the run goes on rather than wait forever.
      Self.noteStart(in: context)
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    case .admitted:
      defer { ExclusionLock.leave(scope, self.slots) }
      if Task.isCancelled, let cancellation = Self.cancellation { throw cancellation }
      Self.noteStart(in: context)
      return try await scope.perform(isolation: isolation) {
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
}

// MARK: - Conditions

extension OperationPreparation {
  private func check(isolation: isolated (any Actor)?, in context: OperationContext) async throws(Operation.Failure) {
    for check in self.checks {
      guard let dependency = check.condition.dependency(in: context) else { continue }
      try Self.throwIfCancelled()
      await dependency.runAsDependency(isolation: isolation, in: context)
    }
    var skipped: PreparationCheck<Operation.Failure>?
    for check in self.checks {
      try Self.throwIfCancelled()
      switch await check.condition.evaluate(in: context) {
      case .satisfied: continue
      case .skipped: skipped = skipped ?? check
      case .denied(let error): throw check.failure(error)
      }
    }
    if let skipped { throw skipped.failure(OperationSkipped(reason: skipped.condition.conditionName)) }
    try Self.throwIfCancelled()
  }

  // Not inlined: async functions would allocate room for the failure.
  @inline(never)
  private static func throwIfCancelled() throws(Operation.Failure) {
    if Task.isCancelled, let cancellation = self.cancellation { throw cancellation }
  }

  /// A `CancellationError`; nil if the failure of the operation cannot represent it.
  private static var cancellation: Operation.Failure? {
    @inline(never) get { CancellationError() as? Operation.Failure }
  }

  /// Notes that the body begins, if the operation was scheduled and no preparation is inside of this one.
  private static func noteStart(in context: OperationContext) {
    guard let start = context.scheduledStart, !OperationTraits.of(Operation.self).hasPreparation else { return }
    start.node.start()
  }

  @inline(never)
  private static func outcome(ofCircle names: [String]) -> Result<Operation.Value, Operation.Failure>? {
    if OperationCircleError.isFailure(Operation.Failure.self) { return OperationCircleError.outcome(names) }
    OperationCircleError(operationNames: names).report()
    return nil
  }
}
