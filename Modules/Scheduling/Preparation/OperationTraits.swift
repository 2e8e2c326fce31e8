internal import OperationCore
internal import Synchronization

/// What the scheduler has to know of the type of an operation.
struct OperationTraits: Sendable {
  /// Whether it has conditions or categories anywhere in it.
  let hasPreparation: Bool
  /// Whether it is unique work.
  let isUnique: Bool
  /// Whether it is a group, perhaps with modifiers.
  let isGroup: Bool

  // One entry for each type of operation.
  private static let known = Mutex<[ObjectIdentifier: OperationTraits]>([:])

  static func of<Operation: OperationRequest>(_ type: Operation.Type) -> OperationTraits {
    let id = ObjectIdentifier(type)
    if let traits = self.known.withLock({ $0[id] }) { return traits }
    let inner = (type as? any FailureErasingOperation.Type)?.erasedOperation ?? type
    let traits = OperationTraits(
      hasPreparation: type.hasModifier { $0 is any PreparationModifier.Type } || inner.isPrepared,
      isUnique: inner.hasModifier { $0 is any UniqueModifier.Type },
      isGroup: type.unmodifiedType == OperationGroup.self
    )
    self.known.withLock { $0[id] = traits }
    return traits
  }
}

extension OperationRequest {
  fileprivate static var isPrepared: Bool { self.hasModifier { $0 is any PreparationModifier.Type } }
}

/// The start of a scheduled operation's body, which the innermost preparation of the operation notes.
struct ScheduledStart: Sendable {
  let node: ScheduledNode
}

extension OperationContext {
  var scheduledStart: ScheduledStart? {
    get { self[ScheduledStartKey.self] }
    set { self[ScheduledStartKey.self] = newValue }
  }

  private enum ScheduledStartKey: Key {
    static let defaultValue: ScheduledStart? = nil
  }
}

// MARK: - Conditions that modules add

/// ``AnyFailureOperation`` of any operation.
protocol FailureErasingOperation: OperationRequest {
  static var erasedOperation: any OperationRequest.Type { get }
}

/// An operation whose failure can be any error.
struct AnyFailureOperation<Operation: OperationRequest & Sendable>: FailureErasingOperation, Sendable {
  let operation: Operation

  var operationName: String { self.operation.operationName }

  static var unmodifiedType: any OperationRequest.Type { Operation.unmodifiedType }

  static var erasedOperation: any OperationRequest.Type { Operation.self }

  func setup(context: inout OperationContext) {
    self.operation.setup(context: &context)
  }

  func isSameRun(in context: OperationContext, as other: OperationContext) -> Bool {
    self.operation.isSameRun(in: context, as: other)
  }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Operation.Value, any Error>
  ) async throws -> Operation.Value {
    try await self.operation.run(
      isolation: isolation,
      in: context,
      with: OperationContinuation { continuation.yield(with: $0.mapError { $0 as any Error }, using: $1) }
    )
  }
}

extension OperationRequest where Self: Sendable {
  /// The operation with further conditions before its own ones.
  func preparedAsAnyFailure(
    after conditions: [any OperationCondition]
  ) -> Modified<OperationPreparation<AnyFailureOperation<Self>>> {
    var preparation = OperationPreparation<AnyFailureOperation<Self>>()
    for condition in conditions { preparation.append(condition) { $0 } }
    var operation = self
    if let inner = self as? any PreparedOperation { operation = preparation.adopt(inner) ?? self }
    return Modified(operation: AnyFailureOperation(operation: operation), modifier: preparation)
  }
}

extension OperationPreparation {
  /// Takes the contents of the preparation of `inner` over, and returns the rest, if that is a `Rest`.
  fileprivate mutating func adopt<Inner: PreparedOperation, Rest: OperationRequest>(_ inner: Inner) -> Rest?
  where Operation.Failure == any Error {
    guard let rest = inner.unprepared as? Rest else { return nil }
    for check in inner.preparationChecks {
      let failure = check.failure
      self.checks.append(PreparationCheck(condition: check.condition) { failure($0) })
    }
    self.add(inner.preparationLanes)
    return rest
  }
}
