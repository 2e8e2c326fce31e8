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
