/// Configuration and dependencies that travel with an operation: a typed key-value store with value semantics.
///
/// Add an entry with a key type and a computed property:
///
/// ```swift
/// extension OperationContext {
///   var greeting: String {
///     get { self[GreetingKey.self] }
///     set { self[GreetingKey.self] = newValue }
///   }
///
///   private enum GreetingKey: Key {
///     static let defaultValue = "hello"
///   }
/// }
/// ```
///
/// - Complexity: Reading and writing an entry is O(*n*) in the number of entries that were set, which is small.
public struct OperationContext: Sendable {
  @usableFromInline
  struct Slot: Sendable {
    @usableFromInline let key: ObjectIdentifier
    @usableFromInline let entry: AnyContextEntry

    @inlinable
    init(key: ObjectIdentifier, entry: AnyContextEntry) {
      self.key = key
      self.entry = entry
    }
  }

  /// The copy-on-write storage of a context.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    // Unchecked because it is mutated only while it has a single reference, which also makes accesses exclusive:
    // checked, they take 320 of the 7,900 instructions of a run with a timeout.
    @exclusivity(unchecked) @usableFromInline var content: Content

    @usableFromInline
    init(_ content: Content) {
      self.content = content
    }
  }

  @usableFromInline
  struct Content: Sendable {
    @usableFromInline var slots: ContiguousArray<Slot>
    /// The entries that a run writes when it starts. Stored outside `slots`, where each entry costs an allocation.
    var run = RunEntries()
    /// The number of entries whose keys belong to a setup.
    @usableFromInline var setupEntryCount: UInt16 = 0

    init(slots: ContiguousArray<Slot> = []) {
      self.slots = slots
    }
  }

  // A single reference, because every task and every event carries a context.
  @usableFromInline var storage: Storage
  var event = EventEntries()

  static let empty = Storage(Content())

  /// Creates a context in which every entry has its default value.
  public init() {
    self.storage = Self.empty
  }

  init(storage: Storage) {
    self.storage = storage
  }

  @inlinable
  var slots: ContiguousArray<Slot> {
    get { self.storage.content.slots }
    _modify {
      self.makeUnique()
      yield &self.storage.content.slots
    }
  }

  var run: RunEntries {
    get { self.storage.content.run }
    _modify {
      self.makeUnique()
      yield &self.storage.content.run
    }
  }

  @inlinable
  mutating func makeUnique() {
    guard !isKnownUniquelyReferenced(&self.storage) else { return }
    self.storage = Storage(self.storage.content)
  }
}

extension OperationContext {
  /// A key of a context entry.
  ///
  /// Each read of an entry that was never set evaluates the default: use a `static let` to compute it once.
  public protocol Key<Value> {
    associatedtype Value: Sendable

    /// The value of an entry that was never set.
    static var defaultValue: Value { get }

    /// Whether the entry stays with the operation whose setup has set it. False by default.
    ///
    /// It is then dropped where the context is handed to another store or runner, and no call can replace it.
    static var belongsToSetup: Bool { get }
  }

  /// The value for `key`; its default value if it was never set.
  @inlinable
  public subscript<K: Key>(key: K.Type) -> K.Value {
    get {
      let id = ObjectIdentifier(key)
      for slot in self.slots where slot.key == id {
        // The type of the entry is the type that its key names.
        return unsafeDowncast(slot.entry, to: ContextEntry<K>.self).value
      }
      return K.defaultValue
    }
    set {
      let slot = Slot(key: ObjectIdentifier(key), entry: ContextEntry<K>(newValue))
      if let index = self.slots.firstIndex(where: { $0.key == slot.key }) {
        self.slots[index] = slot
      } else {
        self.slots.append(slot)
        if K.belongsToSetup { self.storage.content.setupEntryCount += 1 }
      }
    }
  }

  /// Whether the entry was set, even if only to its default value.
  @inlinable
  public func isSet<K: Key>(_ key: K.Type) -> Bool {
    let id = ObjectIdentifier(key)
    return self.slots.contains { $0.key == id }
  }

  /// Removes the entry, which then has its default value.
  public mutating func unset<K: Key>(_ key: K.Type) {
    let id = ObjectIdentifier(key)
    guard let index = self.slots.firstIndex(where: { $0.key == id }) else { return }
    if self.slots.count == 1 { self.slots = [] } else { self.slots.remove(at: index) }
    if K.belongsToSetup { self.storage.content.setupEntryCount -= 1 }
  }

  /// A copy of this context in which the entries of `other` replace its own. Entries from the setup of the operation
  /// stay.
  ///
  /// The notice observers of both contexts are kept.
  @usableFromInline
  func overlaid(with other: OperationContext?) -> OperationContext {
    guard var other else { return self }
    other.forgetSetUp()
    var merged = self
    if merged.slots.isEmpty {
      if !other.slots.isEmpty { merged.slots = other.slots }
      return merged
    }
    for slot in other.slots {
      if let index = merged.slots.firstIndex(where: { $0.key == slot.key }) {
        merged.slots[index] = slot
      } else {
        merged.slots.append(slot)
      }
    }
    if self.isObserved { merged.addNoticeObservers(of: self) }
    return merged
  }
}

extension OperationContext {
  /// A copy of this context in which the given entries replace its own.
  package func adding(_ entries: OperationContext) -> OperationContext {
    self.overlaid(with: entries)
  }
}

extension OperationContext {
  /// Removes the entries that belong only to the operation with the `setup` that added them.
  @usableFromInline
  mutating func forgetSetUp() {
    // Most contexts have no such entry, so that nothing is searched.
    guard self.storage.content.setupEntryCount > 0 else { return }
    self.slots.removeAll { $0.entry.belongsToSetup }
    self.storage.content.setupEntryCount = 0
  }
}

extension OperationContext.Key {
  @inlinable
  public static var belongsToSetup: Bool { false }
}

extension OperationContext: CustomStringConvertible {
  /// The names and values of the entries that were set; a name is the key's type without the suffix `Key`.
  public var description: String {
    let entries = self.slots.map { $0.entry.description }
    return "OperationContext(\(entries.joined(separator: ", ")))"
  }
}

@usableFromInline
class AnyContextEntry: @unchecked Sendable {
  // Unchecked because the compiler cannot check a non-final class; its only subclass stores an immutable Sendable
  // value.
  @inlinable
  init() {}

  var description: String { "" }
  var belongsToSetup: Bool { false }
}

@usableFromInline
final class ContextEntry<K: OperationContext.Key>: AnyContextEntry, @unchecked Sendable {
  // Unchecked like its base class; it adds only this immutable Sendable value.
  @usableFromInline let value: K.Value

  @inlinable
  init(_ value: K.Value) {
    self.value = value
  }

  override var description: String {
    "\(Self.name) = \(ShownText.of(condition: self.value, otherwise: "\(self.value)"))"
  }
  override var belongsToSetup: Bool { K.belongsToSetup }

  private static var name: Substring {
    let name = "\(K.self)"
    // The macro and the build plugin generate key names like `$ContextKey_greeting`.
    if name.hasPrefix("$ContextKey_") { return name.dropFirst("$ContextKey_".count) }
    return name.hasSuffix("Key") && name.count > 3 ? name.dropLast(3) : name[...]
  }
}
