internal import Synchronization

extension OperationContext {
  /// Allows runs of the operation to add entries to the contexts of their outcomes. Modifiers call it in their setup.
  public mutating func addEntriesToOutcomes() {
    if !self.addsToOutcomes { self[AddsToOutcomesKey.self] = true }
  }

  /// Adds an entry to the context of the event that reports the outcome of this run.
  ///
  /// It has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  public func addToOutcome<K: Key>(_ value: K.Value, for key: K.Type) {
    self.run.outcomeEntries?.set(value, for: key)
  }

  /// Whether ``addToOutcome(_:for:)`` has an effect.
  public var canAddToOutcome: Bool { self.run.outcomeEntries != nil }

  /// Removes an entry that the run has added to its outcome, such as one of an earlier attempt.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - hasOrigin: Whether the run has named the origin of its value together with that entry. The origin is then
  ///     removed, too.
  public func removeFromOutcome<K: Key>(_ key: K.Type, withValueOrigin hasOrigin: Bool = false) {
    if let entries = self.run.outcomeEntries { entries.remove(key, withValueOrigin: hasOrigin) }
  }

  /// Whether a modifier inside of a retry has found that another attempt cannot succeed.
  public var isRetryVetoed: Bool { self.run.outcomeEntries?.isRetryVetoed ?? false }

  /// Says whether another attempt of this run can succeed. The last call counts.
  ///
  /// It has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  public func vetoRetry(_ isVetoed: Bool) {
    self.run.outcomeEntries?.vetoRetry(isVetoed)
  }

  /// An entry that the run has added to its outcome so far.
  public func entryOfOutcome<K: Key>(_ key: K.Type) -> K.Value {
    self.run.outcomeEntries?.get(key) ?? K.defaultValue
  }

  /// Notes that this run confirms the value of its store. The store then dates the value anew, and does not set it.
  ///
  /// - Parameter count: The number of updates of the value when the store had it. If the state was set since, the value
  ///   is set as usual.
  public func renewValue(withCount count: Int) {
    self.addToOutcome(count, for: RenewedValueKey.self)
  }

  /// Takes back a call of ``renewValue(withCount:)``, for example of an earlier attempt.
  public func forgetRenewal() {
    self.removeFromOutcome(RenewedValueKey.self)
  }

  /// What is known of the value that this run returns: final, unless the run says otherwise.
  ///
  /// Setting it has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  public var outcomeStamp: ValueStamp {
    get { self.run.outcomeEntries?.stamp ?? ValueStamp(.final) }
    nonmutating set { self.run.outcomeEntries?.stamp = newValue }
  }

  /// Combines ``outcomeStamp`` with the stamp of a value from which the run makes its own. Parts of the run may do so at
  /// the same time.
  public func combineOutcomeStamp(with stamp: ValueStamp) {
    self.run.outcomeEntries?.combineStamp(with: stamp)
  }

  /// Changes ``outcomeStamp`` in one step. Parts of the run may do so at the same time.
  package func editOutcomeStamp(_ edit: (inout ValueStamp) -> Void) {
    self.run.outcomeEntries?.editStamp(edit)
  }

  /// Whether the run has made its value of others: see ``combineOutcomeStamp(with:)``.
  public var outcomeHasSources: Bool { self.run.outcomeEntries?.hasSources ?? false }

  /// Whether the values of the operation are made of values of other operations, which its setup knows before the first run.
  /// ``outcomeHasSources`` is about one run.
  ///
  /// No other process could know when such a value changes.
  public var hasSources: Bool {
    get { self[HasSourcesKey.self] }
    set { self[HasSourcesKey.self] = newValue }
  }

  private enum HasSourcesKey: Key {
    static let defaultValue = false
    static let belongsToSetup = true
  }

  /// Sets the origin of this run's value, for explanations of the store while it shows the value.
  ///
  /// It has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  ///
  /// - Parameter origin: Returns a sentence.
  public func noteValueOrigin(_ origin: @escaping @Sendable () -> String) {
    self.run.outcomeEntries?.noteValueOrigin(origin)
  }

  /// If the run has only renewed the value: the number of updates of that value. Nil if the run has a new value.
  var renewedValueCount: Int? { self.entryOfOutcome(RenewedValueKey.self) }

  private enum RenewedValueKey: Key {
    static let defaultValue: Int? = nil
  }

  var addsToOutcomes: Bool { self.isSet(AddsToOutcomesKey.self) }

  enum AddsToOutcomesKey: Key {
    static let defaultValue = false
  }
}

/// The additions of a run to its outcome: entries of the context of the event, and what the store has to know.
final class OutcomeEntries: Sendable {
  private struct Content: Sendable {
    var entries = OperationContext()
    var isRetryVetoed = false
    var stamp = ValueStamp(.final)
    var hasSources = false
    var hasCommitted = false
    var valueOrigin: (@Sendable () -> String)?
  }

  private let content = Locked(Content())

  init() {}

  func set<K: OperationContext.Key>(_ value: K.Value, for key: K.Type) {
    self.content.withLock { content, released in
      released.append(content.entries)
      content.entries[key] = value
    }
  }

  func get<K: OperationContext.Key>(_ key: K.Type) -> K.Value {
    self.content.withLock { $0.entries }[key]
  }

  func remove<K: OperationContext.Key>(_ key: K.Type, withValueOrigin hasOrigin: Bool) {
    self.content.withLock { content, released in
      guard content.entries.isSet(key) else { return }
      released.append(content.entries)
      content.entries.unset(key)
      if hasOrigin { released.append(content.valueOrigin.take()) }
    }
  }

  func added(to context: OperationContext) -> OperationContext {
    let entries = self.content.withLock { $0.entries }
    return entries.slots.isEmpty ? context : context.overlaid(with: entries)
  }

  var isRetryVetoed: Bool { self.content.withLock { $0.isRetryVetoed } }

  func vetoRetry(_ isVetoed: Bool) {
    self.content.withLock { $0.isRetryVetoed = isVetoed }
  }

  /// What is known of the run's value.
  var stamp: ValueStamp {
    get { self.content.withLock { $0.stamp } }
    set { self.content.withLock { $0.stamp = newValue } }
  }

  func editStamp(_ edit: (inout ValueStamp) -> Void) {
    self.content.withLock { edit(&$0.stamp) }
  }

  func combineStamp(with other: ValueStamp) {
    self.content.withLock { content in
      content.stamp = content.stamp.combined(with: other)
      content.hasSources = true
    }
  }

  var hasSources: Bool { self.content.withLock { $0.hasSources } }

  func noteCommit() {
    self.content.withLock { $0.hasCommitted = true }
  }

  /// Whether the run has committed a value since the last call.
  func takeCommit() -> Bool {
    self.content.withLock { content in
      defer { content.hasCommitted = false }
      return content.hasCommitted
    }
  }

  /// The origin of the run's value, in a sentence; nil for a usual value.
  var valueOrigin: (@Sendable () -> String)? { self.content.withLock { $0.valueOrigin } }

  func noteValueOrigin(_ origin: @escaping @Sendable () -> String) {
    self.content.withLock { content, released in
      released.append(content.valueOrigin)
      content.valueOrigin = origin
    }
  }
}
