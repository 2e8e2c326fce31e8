internal import Synchronization

/// An identifier of a task, unique in the process.
///
/// Tasks that are created later have greater identifiers.
public struct OperationTaskIdentifier: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let rawValue: UInt64

  private static let last = Atomic<UInt64>(0)

  /// Returns an identifier that no other task has.
  @usableFromInline
  static func next() -> OperationTaskIdentifier {
    OperationTaskIdentifier(rawValue: self.last.wrappingAdd(1, ordering: .relaxed).newValue)
  }

  public static func < (lhs: OperationTaskIdentifier, rhs: OperationTaskIdentifier) -> Bool {
    lhs.rawValue < rhs.rawValue
  }

  public var description: String { "#\(self.rawValue)" }
}
