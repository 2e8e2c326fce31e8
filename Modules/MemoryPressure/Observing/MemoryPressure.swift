/// How short of memory the system, or the part of it that a program may use, is.
///
/// A source tells one level at a time. Where levels are chosen, as in
/// ``OperationCore/OperationRequest/evictWhen(pressure:)``, it is a set of them.
public struct MemoryPressure: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// There is enough memory.
  public static let normal = MemoryPressure(rawValue: 1 << 0)

  /// Memory is getting short: give back what can be made again.
  public static let warning = MemoryPressure(rawValue: 1 << 1)

  /// There is hardly any memory left: work stands still for it, or is about to be killed.
  public static let critical = MemoryPressure(rawValue: 1 << 2)

  /// The levels at which idle stores go unless their operation says otherwise: warning and critical.
  public static let defaultEvictable: MemoryPressure = [.warning, .critical]

  /// All levels.
  public static let all: MemoryPressure = [.normal, .warning, .critical]
}

extension MemoryPressure: CustomStringConvertible {
  public var description: String {
    let names = [(MemoryPressure.normal, "normal"), (.warning, "warning"), (.critical, "critical")]
    return "[" + names.filter { self.contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
  }
}
