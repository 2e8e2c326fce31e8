/// Why a run of a store has begun, or why another event has occurred in the store.
///
/// ```swift
/// print(context.operationRunCause?.description ?? "")  // For example: polling every 5 s
/// ```
///
/// All attempts of a run have its cause.
public struct OperationRunCause: Sendable {
  /// The kind of a cause.
  ///
  /// Modules and programs may have kinds of their own, so a `switch` over kinds needs a default.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, in lowercase words with underscores between them: `early_refresh`.
    public let description: String

    /// Creates a kind.
    ///
    /// - Parameter description: Lowercase words with underscores between them, one of a small number of names.
    public init(_ description: String) {
      self.description = description
    }
  }

  package enum Content: Sendable {
    case call(taskName: String?)
    case subscriber(name: String?)
    case invalidation(InvalidationRecord)
    case condition(String)
    case polling(Duration)
    case controller(String)
    case source(OperationPath)
    case operation(String)
    case cacheTime(Duration)
    case idleStoreLimit(Int)
    case plain(Kind, subject: String?)
  }

  let content: Content

  package init(_ content: Content) {
    self.content = content
  }

  /// Creates a cause.
  ///
  /// - Parameters:
  ///   - kind: The kind.
  ///   - subject: The origin of the run, such as the name of a signal, without user data; nil if the kind says enough.
  public init(_ kind: Kind, subject: String? = nil) {
    self.content = .plain(kind, subject: subject)
  }
}

// MARK: - Kinds

extension OperationRunCause.Kind {
  /// A caller of the store. The subject is the name of the task that called, if it is known.
  public static let call = Self("call")

  /// A subscriber came, and the value was stale. The subject is its name, if it has one.
  public static let subscriber = Self("subscriber")

  /// The store was invalidated. The subject is the prefix of paths, or the tags.
  public static let invalidation = Self("invalidation")

  /// The store was reset.
  public static let reset = Self("reset")

  /// A condition became true. The subject is its description.
  public static let condition = Self("condition")

  /// An interval has passed. The subject is the interval.
  public static let polling = Self("polling")

  /// A controller asked for the run. The subject is its type.
  public static let controller = Self("controller")

  /// A call got a fresh value that becomes stale soon. The run refreshes it without delaying that call.
  public static let earlyRefresh = Self("early_refresh")

  /// A call got a stale value. The run refreshes it without delaying that call.
  public static let refreshBehind = Self("refresh_behind")

  /// The value was fetched ahead of its use.
  public static let prefetch = Self("prefetch")

  /// A source of a derived query has changed. The subject is its path.
  public static let source = Self("source")

  /// The body or a modifier of another operation has caused it. The subject is the name of that operation.
  public static let operation = Self("operation")

  /// A stored value was read.
  public static let restoration = Self("restoration")

  /// The value has reached an age. The subject is the rule, such as `its value is older than 1 min`.
  public static let age = Self("age")

  /// The store was idle for its cache time. The subject is that time.
  public static let cacheTime = Self("cache_time")

  /// The cache had more idle stores than it may keep. The subject is that number.
  public static let idleStoreLimit = Self("idle_store_limit")

  /// An eviction trigger, such as one for memory pressure. The subject is its description.
  public static let evictionTrigger = Self("eviction_trigger")

  /// The store cache of the client has evicted the store, for a reason of its own.
  public static let storeCache = Self("store_cache")

  /// The last reference to a store that the client had evicted was released.
  public static let release = Self("release")

  /// Another store was put in the place of the store.
  public static let replacement = Self("replacement")
}

extension OperationRunCause {
  /// A call with an unknown origin.
  static let call = Self(.call(taskName: nil))
  package static let prefetch = Self(.prefetch)
  static let restoration = Self(.restoration)
  package static let storeCache = Self(.storeCache)
  package static let release = Self(.release)
  package static let replacement = Self(.replacement)
  /// A refresh behind a call that got a stale value.
  public static let refreshBehind = Self(.refreshBehind)
  /// A refresh behind a call that got a fresh value.
  public static let earlyRefresh = Self(.earlyRefresh)

  /// A condition that became true.
  package static func condition(_ description: String) -> Self { Self(.condition(description)) }

  /// A change of the source at a path.
  package static func source(_ path: OperationPath) -> Self { Self(.source(path)) }

  /// The kind of the cause.
  public var kind: Kind {
    switch self.content {
    case .call: .call
    case .subscriber: .subscriber
    case .invalidation: .invalidation
    case .condition: .condition
    case .polling: .polling
    case .controller: .controller
    case .source: .source
    case .operation: .operation
    case .cacheTime: .cacheTime
    case .idleStoreLimit: .idleStoreLimit
    case .plain(let kind, _): kind
    }
  }

  /// The origin of the run as text; nil if the kind says enough, or if it is unknown. It may contain user data of
  /// paths.
  public var subject: String? {
    switch self.content {
    case .call(let taskName): taskName
    case .subscriber(let name): name
    case .invalidation(let record): record.subject
    case .condition(let description): description
    case .polling(let interval): interval.roundedText
    case .controller(let name): name
    case .source(let path): ShownText.of(path)
    case .operation(let name): name
    case .cacheTime(let time): time.roundedText
    case .idleStoreLimit(let count): "\(count)"
    case .plain(_, let subject): subject
    }
  }

  /// If an operation such as a mutation has invalidated the store: the name of that operation.
  ///
  /// Nil for other causes, and for an invalidation by code of the program.
  public var invalidatingOperation: String? {
    if case .invalidation(let record) = self.content { record.operationName } else { nil }
  }
}

extension OperationRunCause: Hashable {
  /// Whether two causes have the same kind, the same subject and the same invalidating operation.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.kind == rhs.kind && lhs.subject == rhs.subject && lhs.invalidatingOperation == rhs.invalidatingOperation
  }

  /// Feeds the kind, the subject and the invalidating operation to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(self.kind)
    hasher.combine(self.subject)
    hasher.combine(self.invalidatingOperation)
  }
}

extension OperationRunCause: CustomStringConvertible {
  /// The cause for a sentence, to follow "by" or "because of": `a call`, `polling every 5 s`.
  public var description: String {
    switch self.content {
    case .call(let taskName): taskName.map { "a call in the task \($0)" } ?? "a call"
    case .subscriber(let name): name.map { "the new subscriber \($0)" } ?? "a new subscriber"
    case .invalidation(let record): record.description
    case .condition(let description): "a condition that became true: \(description)"
    case .polling(let interval): "polling every \(interval.roundedText)"
    case .controller(let name): "the controller \(name)"
    case .source(let path): "a change of its source \(ShownText.of(path))"
    case .operation(let name): name
    case .cacheTime(let time): "its cache time of \(time.roundedText)"
    case .idleStoreLimit(let count): "the limit of \(ShownText.count(count, "idle store"))"
    case .plain(.earlyRefresh, _): "an early refresh"
    case .plain(.refreshBehind, _): "a refresh behind a stale value"
    case .plain(.prefetch, _): "a prefetch"
    case .plain(.reset, _): "a reset"
    case .plain(.restoration, _): "a restoration"
    case .plain(.evictionTrigger, let subject): subject ?? "an eviction trigger"
    case .plain(.storeCache, _): "a decision of its store cache"
    case .plain(.release, _): "the release of its last reference"
    case .plain(.replacement, _): "another store in its place"
    case .plain(let kind, let subject): subject.map { "\(kind): \($0)" } ?? kind.description
    }
  }
}

extension OperationRunCause: Encodable {
  private enum CodingKeys: String, CodingKey {
    case kind, subject, invalidatingOperation, description
  }

  /// Encodes the kind, the subject, the invalidating operation and the description.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(self.kind.description, forKey: .kind)
    try container.encodeIfPresent(self.subject, forKey: .subject)
    try container.encodeIfPresent(self.invalidatingOperation, forKey: .invalidatingOperation)
    try container.encode(self.description, forKey: .description)
  }
}
