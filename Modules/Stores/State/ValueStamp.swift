/// What is known of a value besides its date: what it is, and who may use it for what.
///
/// A value keeps its stamp in the state, in the storage, when it is handed over, and in derived queries.
public struct ValueStamp: Hashable, Sendable {
  /// What a value is. A greater kind is closer to what a service has answered.
  @nonexhaustive(warn)
  public enum Kind: Comparable, Sendable {
    /// There is no value.
    case none
    /// The default value of an operation, in place of a missing one.
    case placeholder
    /// The value that the store was made with.
    case initial
    /// A run has yielded it, and did not return a value since. It is never fresh.
    case partial
    /// It was returned in place of an error. It is fresh only where that was asked for, and is never stored or shared.
    case fallback
    /// It was set from outside of a run.
    case set
    /// A run has returned it.
    case final
  }

  private struct Restrictions: OptionSet, Hashable {
    static let isUnconfirmed = Self(rawValue: 1)
    static let staysInStore = Self(rawValue: 2)
    static let isOfUnknownUser = Self(rawValue: 4)

    var rawValue: UInt8
  }

  // Three small fields, because every context has a stamp, and each step of a run copies a task, which has a context. With more
  // than seven fields in all the compiler makes a function for the copies, which takes 3 % of the instructions of a fetch.

  /// The bits of the seconds of ``freshness``, which are negative without one.
  private var freshSecondsBits = Self.withoutFreshness

  /// What the value is.
  public var kind: Kind

  private var restrictions: Restrictions = []

  private static let withoutFreshness = Float(-1).bitPattern

  /// Whether an update is in the value that no service has confirmed: an optimistic one of the store, or of a source of a
  /// derived query. Such a value is shown, and never stored, handed over, or shared.
  public var isUnconfirmed: Bool {
    get { self.restrictions.contains(.isUnconfirmed) }
    set { if newValue { self.restrictions.insert(.isUnconfirmed) } else { self.restrictions.remove(.isUnconfirmed) } }
  }

  /// Whether the service has forbidden to keep the value for others or for later. Such a value is shown, and never stored,
  /// handed over, or shared.
  public var staysInStore: Bool {
    get { self.restrictions.contains(.staysInStore) }
    set { if newValue { self.restrictions.insert(.staysInStore) } else { self.restrictions.remove(.staysInStore) } }
  }

  /// Whether the value may be of a user whose values another process has removed since. Such a value is shown, and never stored,
  /// handed over, or shared.
  package var isOfUnknownUser: Bool {
    get { self.restrictions.contains(.isOfUnknownUser) }
    set {
      if newValue { self.restrictions.insert(.isOfUnknownUser) } else { self.restrictions.remove(.isOfUnknownUser) }
    }
  }

  /// Makes a stamp.
  ///
  /// - Parameters:
  ///   - kind: What the value is.
  ///   - isUnconfirmed: Whether an update is in it that no service has confirmed.
  public init(_ kind: Kind, isUnconfirmed: Bool = false) {
    self.kind = kind
    self.isUnconfirmed = isUnconfirmed
  }

  /// How long the run has said that its value is fresh, from the date of the value on; nil if it has not. A long time is
  /// rounded to 24 binary digits, and is a hundred years at most.
  public var freshness: Duration? {
    get {
      let seconds = Float(bitPattern: self.freshSecondsBits)
      return seconds < 0 ? nil : .seconds(Double(seconds))
    }
    set {
      // Rounded up, the seconds of a longer one may be too many for a duration.
      let seconds = newValue.map { Float($0.clampedForClock / .seconds(1)) }
      self.freshSecondsBits = seconds?.bitPattern ?? Self.withoutFreshness
    }
  }

  /// Whether the value may leave its store: be stored, handed over, or shared with other nodes.
  public var mayLeaveStore: Bool { self.restrictions.isEmpty && self.kind != .fallback }
}

extension ValueStamp {
  /// The stamp of a value that is made of two: the lesser kind and the shorter freshness; unconfirmed, and
  /// forbidden to leave the store, if one is.
  public func combined(with other: ValueStamp) -> ValueStamp {
    var stamp = ValueStamp(min(self.kind, other.kind))
    stamp.restrictions = self.restrictions.union(other.restrictions)
    stamp.freshness = [self.freshness, other.freshness].compactMap(\.self).min()
    return stamp
  }
}
