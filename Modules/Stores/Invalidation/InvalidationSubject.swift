/// What an invalidation concerns.
@nonexhaustive(warn)
public enum InvalidationSubject: Hashable, Sendable {
  /// The values at paths that start with a path.
  case path(OperationPath)
  /// The values with a tag: its name, and its identifier if it has one.
  case tag(OperationPath)
  /// The values with any tag of a name. A process that learns of another tag than a name, a string or a number from
  /// outside does not know the type of its identifier.
  case tags(named: String)
}

/// A point in the order of all invalidations that the process has made or learned of.
///
/// A value keeps the one that its run had reached when it began. An invalidation with a later one that concerns the value
/// makes it stale, whenever the value arrives.
public struct InvalidationEpoch: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number of the invalidation in this process; 0 before the first.
  public let rawValue: Int

  /// Creates an epoch.
  ///
  /// - Parameter rawValue: The number of an invalidation in this process.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Before all invalidations.
  public static let zero = Self(rawValue: 0)

  /// The last invalidation until now.
  public static var latest: Self { Self(rawValue: InvalidationNumber.latest) }

  /// Whether an epoch is before another one.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
