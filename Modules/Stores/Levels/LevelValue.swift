public import OperationFoundation

/// Identifies a value in a level.
public struct LevelKey: Hashable, Sendable {
  /// The path of the operation.
  public let path: OperationPath
  /// The name of the value. Operations of one type may have the same name.
  public let name: String
  /// The version of the encoded form.
  public let version: Int
  /// The text by which a storage knows the value, if it was computed. It is the same for equal paths and names.
  package let text: String?

  /// Creates a key.
  public init(path: OperationPath, name: String, version: Int = 1) {
    self.init(path: path, name: name, version: version, text: nil)
  }

  package init(path: OperationPath, name: String, version: Int, text: String?) {
    self.path = path
    self.name = name
    self.version = version
    self.text = text
  }

  /// Whether the paths, the names and the versions are the same.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.version == rhs.version && lhs.name == rhs.name && lhs.path == rhs.path
  }

  /// Hashes the path and the name.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.path)
    hasher.combine(self.name)
  }
}

/// A value with what is known of it, as stores and levels pass it to each other.
public struct LevelValue: Sendable {
  /// What the value is.
  public var stamp: ValueStamp

  /// When the value came into being, by the clock of the client; nil if that is unknown.
  public var date: Date?

  /// The last invalidation of this process that the run of the value had seen; zero for a value of another process.
  public var seen: InvalidationEpoch

  /// Whether an invalidation that the value has not seen concerns it. It is shown, and not fresh.
  public var isInvalidated: Bool

  /// The version of the encoded form, in an answer; nil if it is the version of the key.
  public var version: Int?

  /// A number that ascends with the values of the key; nil if the level counts none.
  ///
  /// In a removal, the revision of the value that is meant: a level that has a newer one keeps it.
  public var revision: Int64?

  /// How old the value may become, in a value that a store puts; nil for any age.
  public var maximumAge: Duration?

  /// The context of the store that puts the value, with its clock, deadlines and settings. In an answer, what the level adds.
  public var context = OperationContext()

  /// Encodes the value, in a value that a store puts: not at all, or once, with no lock held. Returns what was encoded, in an
  /// answer.
  public let bytes: @Sendable () throws -> [UInt8]

  private let makeTags: @Sendable () -> [OperationPath]
  /// The turn of the store in which it puts the value.
  var turn: LevelTurn?

  /// Creates a value.
  ///
  /// - Parameters:
  ///   - stamp: What the value is.
  ///   - date: When it came into being.
  ///   - seen: The last invalidation that its run had seen.
  ///   - isInvalidated: Whether an invalidation concerns it that it has not seen.
  ///   - version: The version of the encoded form; nil for that of the key.
  ///   - tags: Its tags, each as a path: a name, and an identifier if it has one. Evaluated each time they are read.
  ///   - bytes: Returns the encoded value, or throws why it cannot be used.
  public init(
    stamp: ValueStamp,
    date: Date? = nil,
    seen: InvalidationEpoch = .zero,
    isInvalidated: Bool = false,
    version: Int? = nil,
    tags: @autoclosure @escaping @Sendable () -> [OperationPath] = [],
    bytes: @escaping @Sendable () throws -> [UInt8] = { [] }
  ) {
    self.stamp = stamp
    self.date = date
    self.seen = seen
    self.isInvalidated = isInvalidated
    self.version = version
    self.makeTags = tags
    self.bytes = bytes
  }

  /// The tags of the value, each as a path: a name, and an identifier if it has one.
  ///
  /// They may call closures of the user: a level reads them with no lock held.
  public var tags: [OperationPath] { self.makeTags() }

  /// Performs an action once ``ValueLevel/put(_:for:under:)`` has returned and no lock is held, on the same thread.
  ///
  /// For what that method must not do itself: begin to write, or release a value that was replaced. A value that no store
  /// puts has no locks: the action is performed at once.
  public func afterwards(_ action: @escaping @Sendable () -> Void) {
    if let turn { turn.add(action) } else { action() }
  }
}

extension LevelValue {
  /// Calls `body` with the value as a store puts it: what the level does ``afterwards(_:)`` follows when `body` has returned.
  package func inTurn<R>(_ body: (LevelValue) -> R) -> R {
    var value = self
    let turn = LevelTurn()
    value.turn = turn
    defer { turn.perform() }
    return body(value)
  }
}

/// What a level has without waiting.
public enum LevelGlance: Sendable {
  /// A value that meets the demand.
  case value(LevelValue)
  /// No value that meets the demand.
  case none
  /// It has to be looked up.
  case unknown
}

/// The answer of a level.
public enum LevelAnswer: Sendable {
  /// A value that meets the demand.
  case value(LevelValue)
  /// No value that meets the demand. The right, if there is one, ends with a put or with ``ValueLevel/giveUp(_:)``.
  case none(LevelRight?)
}

/// The right to make a value, which a level gives to one asker at a time.
public final class LevelRight: Sendable {
  /// What the level knows the right by.
  public let content: any Sendable
  private let outcome = AwaitedOutcome<Void>()

  /// Creates a right.
  ///
  /// - Parameter content: What the level knows the right by.
  public init(_ content: any Sendable) {
    self.content = content
  }

  /// Called by the level when the right has ended, and what was put under it is where others find it.
  public func end() {
    self.outcome.decide()
  }

  /// Waits until the right has ended, or the current task is cancelled.
  nonisolated(nonsending) package func ended() async {
    await self.outcome.value(cancelled: ())
  }
}

/// What levels do when a store has put a value and holds no lock any more.
final class LevelTurn: Sendable {
  private let actions = Locked<[@Sendable () -> Void]>([])

  func add(_ action: @escaping @Sendable () -> Void) {
    self.actions.withLock { $0.append(action) }
  }

  func perform() {
    for action in self.actions.withLock({ actions in
      defer { actions = [] }
      return actions
    }) { action() }
  }
}
