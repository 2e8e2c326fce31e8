public import OperationCore
internal import Synchronization

/// The properties of an operation's type that the scheduler depends on.
@usableFromInline
struct OperationTraits: Sendable {
  /// Whether it has conditions or categories anywhere in it.
  let hasPreparation: Bool
  /// Whether its setup connects it with a scheduler: it is unique work, a group, or an erased operation that may be one.
  let hasSetup: Bool
  /// Whether its type hides the operation's, as `AnyOperation` does.
  let isErased: Bool

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
    self.hasSetup = bits & 2 != 0
    self.isErased = bits & 4 != 0
  }

  private var bits: UInt { (self.hasPreparation ? 1 : 0) | (self.hasSetup ? 2 : 0) | (self.isErased ? 4 : 0) }

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
    let isErased = type.unmodifiedType is any ErasedOperation.Type
    let isUnique = inner.hasModifier { $0 is any UniqueModifier.Type }
    let hasSetup = isErased || isUnique || type.unmodifiedType == OperationGroup.self
    return OperationTraits(
      bits: (type.isPrepared || inner.isPrepared ? 1 : 0) | (hasSetup ? 2 : 0) | (isErased ? 4 : 0)
    )
  }
}

extension OperationRequest {
  fileprivate static var isPrepared: Bool { self.hasModifier { $0 is any PreparationModifier.Type } }
}

/// An operation that hides the type of another one.
private protocol ErasedOperation: OperationRequest {
  var hiddenOperation: any OperationRequest { get }
}

extension AnyOperation: ErasedOperation {
  fileprivate var hiddenOperation: any OperationRequest { self.base }
}

/// An operation around another one.
private protocol EnclosingOperation {
  var enclosedOperation: any OperationRequest { get }
}

extension Modified: EnclosingOperation {
  fileprivate var enclosedOperation: any OperationRequest { self.operation }
}

extension AnyFailureOperation: EnclosingOperation {
  fileprivate var enclosedOperation: any OperationRequest { self.operation }
}

extension OperationRequest {
  /// Whether an operation whose type is hidden in this one has conditions or categories.
  var hidesPreparation: Bool {
    if let enclosing = self as? any EnclosingOperation { return enclosing.enclosedOperation.hidesPreparation }
    guard let hidden = (self as? any ErasedOperation)?.hiddenOperation else { return false }
    return hidden.hasPreparation
  }

  private var hasPreparation: Bool { OperationTraits.of(Self.self).hasPreparation || self.hidesPreparation }
}
