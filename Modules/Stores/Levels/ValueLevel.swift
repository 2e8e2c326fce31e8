/// A place that keeps values, with what is known of them, below the memory of a client: a storage, a cache on a disk, what
/// another process has handed over.
///
/// A store asks its levels for a value when it is made, and passes each change of its value on to them. To use one, apply
/// ``StatefulOperationRequest/kept(in:as:version:maximumAge:encode:decode:)``. Persistence and hydration are levels, too.
///
/// ```swift
/// let cache = DiskCache(directory: "/var/cache/posts")
/// let query = PostQuery(id: 1)
///   .stale(after: .seconds(60))
///   .kept(in: cache, as: "post", encode: encode, decode: decode)
/// ```
///
/// A level decides nothing about freshness: it returns what is known of a value, and the store decides by the rules that
/// hold for all values. `checkValueLevel` of `OperationTesting` checks what stores rely on.
public protocol ValueLevel: AnyObject, Sendable {
  /// The name of the level, for explanations and warnings.
  var name: String { get }

  /// How far the values go.
  var reach: ValueReach { get }

  /// The order in which the level numbers invalidations. It goes on in later processes. Nil, the default, if it numbers none.
  ///
  /// A level with an order says itself which of its values are invalidated: ``LevelValue/isInvalidated``. For the values of
  /// one without, the store asks the client, which knows of no earlier process. So such a level removes what was
  /// invalidated, or notes it with the value: see ``invalidate(_:)``.
  var order: EpochOrder? { get }

  /// What the level has without waiting.
  ///
  /// Called with no lock of the library held, on the thread that makes the store.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - demand: What is asked of the value: see ``ValueDemand/isMet(by:)``.
  /// - Returns: The value, if it meets the demand. Nothing, if the level has no such value. ``LevelGlance/unknown`` if
  ///   that has to be looked up.
  func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance

  /// Looks up a value. The default returns what is at hand, and nothing for ``LevelGlance/unknown``.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - demand: What is asked of the value.
  /// - Returns: The value, if it meets the demand; otherwise nothing, with the right to make one if the level gives such
  ///   rights. Once the current task is cancelled, no right is given.
  /// - Throws: Any error. It is reported, and the store goes on without a value.
  nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer

  /// Takes a value, and returns without waiting. Of several values of a key, the one that was put last counts.
  ///
  /// Called with a lock of the library held, so it only notes the value: it must use no store and no client, must not
  /// call ``LevelValue/bytes``, and must not release what it has noted before. ``LevelValue/afterwards(_:)`` performs such
  /// things once it has returned, for example begins a task that encodes and writes.
  ///
  /// - Parameters:
  ///   - value: The value. One of the kind ``ValueStamp/Kind/none`` removes what the level has for the key. A level refuses
  ///     a value that may not leave its store: ``ValueStamp/mayLeaveStore``.
  ///   - key: The key of the value.
  ///   - right: The right under which it was made; nil without one.
  func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?)

  /// Ends a right without a value. The default does nothing.
  func giveUp(_ right: LevelRight)

  /// Removes values, those being written too. When it returns, none of them comes back, also after a crash.
  ///
  /// - Parameters:
  ///   - scope: The values.
  ///   - era: The era of the client that begins with the removal, or goes on.
  /// - Throws: Any error, if some of the values may be left.
  nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws

  /// Values that these concern, and that have not seen them, are not fresh any more. It does not wait.
  ///
  /// Called with no lock held, before the stores are invalidated. ``Invalidation/concerns(_:for:)`` finds the values.
  func invalidate(_ invalidations: [Invalidation])

  /// Returns when all that was put, removed and invalidated so far is as durable as it will be. The default does nothing.
  ///
  /// - Throws: Any error, if some of it is not.
  nonisolated(nonsending) func flush() async throws
}

extension ValueLevel {
  public var order: EpochOrder? { nil }

  public nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer {
    if case .value(let value) = self.valueAtHand(for: key, demand) { return .value(value) }
    return .none(nil)
  }

  public func giveUp(_ right: LevelRight) {}

  public nonisolated(nonsending) func flush() async throws {}
}

/// How far the values of a level go.
@nonexhaustive(warn)
public enum ValueReach: Hashable, Sendable {
  /// They stay in the process.
  case process
  /// Later processes of the device read them.
  case device
  /// Other nodes read them. Such a level is asked in each run, by the place of the modifier among others.
  case fleet
}

/// Identifies an order in which a level numbers invalidations.
public struct EpochOrder: Hashable, Sendable {
  /// A text that no other order has.
  public let id: String

  /// Creates an identifier.
  ///
  /// - Parameter id: A text that no other order has.
  public init(id: String) {
    self.id = id
  }
}

/// How often a client has forgotten its user: see ``OperationClient/clearEverything(within:switching:)``.
public struct ClientEra: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number of the era, from 0 on.
  public let rawValue: Int

  /// Creates an era.
  ///
  /// - Parameter rawValue: The number of the era.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  /// Whether an era is before another one.
  public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// Which values of a level are removed.
public enum LevelScope: Hashable, Sendable {
  /// All values.
  case everything
  /// The values at paths that start with a path.
  case path(OperationPath)

  /// Whether a value is removed.
  ///
  /// - Parameter key: The key of the value.
  /// - Returns: Whether the scope has it.
  public func contains(_ key: LevelKey) -> Bool {
    switch self {
    case .everything: true
    case .path(let path): key.path.starts(with: path)
    }
  }
}

/// An invalidation, and its place in the order of all invalidations of the process.
public struct Invalidation: Hashable, Sendable {
  /// What it concerns.
  public let subject: InvalidationSubject
  /// Its place in the order.
  public let epoch: InvalidationEpoch

  /// Creates a description of an invalidation.
  public init(_ subject: InvalidationSubject, epoch: InvalidationEpoch) {
    self.subject = subject
    self.epoch = epoch
  }

  /// Whether it makes a value of a level stale: it concerns the value, which has not seen it.
  ///
  /// - Parameters:
  ///   - value: The value. Its tags are evaluated if they matter.
  ///   - key: The key of the value.
  /// - Returns: Whether the value is stale from now on.
  public func concerns(_ value: LevelValue, for key: LevelKey) -> Bool {
    if value.seen >= self.epoch { return false }
    return switch self.subject {
    case .path(let path): key.path.starts(with: path)
    case .tag(let tag): value.tags.contains(tag)
    case .tags(let name): value.tags.contains { $0.first?.base as? String == name }
    }
  }
}
