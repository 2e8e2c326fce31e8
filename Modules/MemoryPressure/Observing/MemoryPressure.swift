/// How short memory is for the program.
///
/// A source reports one level at a time. A set of levels selects several, as in
/// ``OperationCore/OperationRequest/evictWhen(pressure:)``.
public struct MemoryPressure: OptionSet, Hashable, Sendable {
  /// The levels as bits.
  public let rawValue: UInt8

  /// Creates a set of levels from bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Enough memory is available.
  public static let normal = MemoryPressure(rawValue: 1 << 0)

  /// Memory is getting short: release data that can be created again.
  public static let warning = MemoryPressure(rawValue: 1 << 1)

  /// Hardly any memory is left: tasks wait for it, or processes are about to be killed.
  public static let critical = MemoryPressure(rawValue: 1 << 2)

  /// The default levels at which idle stores are dropped: warning and critical.
  public static let defaultEvictable: MemoryPressure = [.warning, .critical]

  /// All levels.
  public static let all: MemoryPressure = [.normal, .warning, .critical]
}

extension MemoryPressure: CustomStringConvertible {
  /// The names of the levels, such as `[warning, critical]`.
  public var description: String {
    let names = [(MemoryPressure.normal, "normal"), (.warning, "warning"), (.critical, "critical")]
    return "[" + names.filter { self.contains($0.0) }.map(\.1).joined(separator: ", ") + "]"
  }
}
