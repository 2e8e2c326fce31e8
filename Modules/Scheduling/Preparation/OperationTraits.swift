public import OperationCore
internal import Synchronization

/// The properties of an operation's type that the scheduler depends on.
@usableFromInline
struct OperationTraits: Sendable {
  /// Whether it has conditions or categories anywhere in it.
  let hasPreparation: Bool
  /// Whether it is unique work.
  let isUnique: Bool
  /// Whether it is a group, perhaps with modifiers.
  let isGroup: Bool

  /// An entry of the table of known types: the address of a type, and its traits in the low bits.
  private final class Entry: Sendable {
    let value = Atomic<UInt>(0)
  }

  // A cache of fixed size: types with the same place in it replace each other.
  private static let known = (0..<256).map { _ in Entry() }
  // The low bits of an address, which are zero.
  private static let traitBits: UInt = 0b111

  private init(bits: UInt) {
    self.hasPreparation = bits & 1 != 0
    self.isUnique = bits & 2 != 0
    self.isGroup = bits & 4 != 0
  }

  private var bits: UInt { (self.hasPreparation ? 1 : 0) | (self.isUnique ? 2 : 0) | (self.isGroup ? 4 : 0) }

  @usableFromInline
  static func of<Operation: OperationRequest>(_ type: Operation.Type) -> OperationTraits {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let entry = self.known[Int((address >> 3) % 256)]
    let known = entry.value.load(ordering: .relaxed)
    if known & ~self.traitBits == address { return OperationTraits(bits: known) }
    let traits = self.determined(for: type)
    entry.value.store(address | traits.bits, ordering: .relaxed)
    return traits
  }

  private static func determined<Operation: OperationRequest>(for type: Operation.Type) -> OperationTraits {
    let inner = (type as? any FailureErasingOperation.Type)?.erasedOperation ?? type
    return OperationTraits(
      bits: (type.isPrepared || inner.isPrepared ? 1 : 0)
        | (inner.hasModifier { $0 is any UniqueModifier.Type } ? 2 : 0)
        | (type.unmodifiedType == OperationGroup.self ? 4 : 0)
    )
  }
}

extension OperationRequest {
  fileprivate static var isPrepared: Bool { self.hasModifier { $0 is any PreparationModifier.Type } }
}

/// The start of a scheduled operation's body, which the innermost preparation of the operation notes.
@usableFromInline
struct ScheduledStart: Sendable {
  let node: ScheduledNode
}

extension OperationContext {
  var scheduledStart: ScheduledStart? {
    get { self[ScheduledStartKey.self] }
    set { self[ScheduledStartKey.self] = newValue }
  }

  @inlinable
  var hasScheduledStart: Bool { self.isSet(ScheduledStartKey.self) }

  @usableFromInline
  enum ScheduledStartKey: Key {
    @usableFromInline static let defaultValue: ScheduledStart? = nil
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
    for failure in inner.preparationFailures {
      self.failures.append(PreparationFailure { failure.map($0) })
    }
    for condition in inner.preparationSteps.conditions { self.steps = self.steps.adding(condition) }
    self.steps = self.steps.adding(inner.preparationSteps.lanes)
    return rest
  }
}
