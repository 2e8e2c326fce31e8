/// The number of an invalidation in a fleet; 0 before the first.
///
/// Work that has seen an epoch before it began answers all invalidations up to it.
public struct FleetEpoch: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number, never negative.
  public let rawValue: Int64

  /// Creates an epoch.
  ///
  /// - Parameter rawValue: The number, never negative.
  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The epoch before the first invalidation.
  public static let zero = FleetEpoch(rawValue: 0)

  /// Whether an epoch is before another one.
  public static func < (lhs: FleetEpoch, rhs: FleetEpoch) -> Bool { lhs.rawValue < rhs.rawValue }

  /// The number in digits.
  public var description: String { "\(self.rawValue)" }
}

/// The last invalidation of a subject.
public struct FleetInvalidation: Hashable, Sendable {
  /// The subject.
  public let subject: FleetSubject

  /// The epoch of the invalidation.
  public let epoch: FleetEpoch

  /// The name of the node that has asked for it.
  public let node: String

  /// Creates an invalidation.
  public init(of subject: FleetSubject, epoch: FleetEpoch, by node: String) {
    self.subject = subject
    self.epoch = epoch
    self.node = node
  }
}

/// The answer of ``FleetBackend/invalidations(since:)``.
@nonexhaustive(warn)
public enum FleetInvalidations: Hashable, Sendable {
  /// These invalidations, each subject once, in any order. They are all up to the epoch of this moment.
  case listed([FleetInvalidation], upTo: FleetEpoch)

  /// All values may have been invalidated, up to the epoch of this moment.
  case everything(upTo: FleetEpoch)

  /// The epoch up to which the caller knows all invalidations now.
  public var epoch: FleetEpoch {
    switch self {
    case .listed(_, let epoch), .everything(let epoch): epoch
    }
  }
}
