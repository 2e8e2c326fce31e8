internal import Synchronization

extension OperationContext {
  /// Allows runs of the operation to add entries to the contexts of their outcomes. Modifiers call it in their setup.
  package mutating func addEntriesToOutcomes() {
    if !self.addsToOutcomes { self[AddsToOutcomesKey.self] = true }
  }

  /// Adds an entry to the context of the event with which the store of this run reports its outcome.
  ///
  /// It has no effect in a run without a store, or if the setup has not called ``addEntriesToOutcomes()``.
  package func addToOutcome<K: Key>(_ value: K.Value, for key: K.Type) {
    self.run.outcomeEntries?.set(value, for: key)
  }

  /// Removes an entry that the run has added to its outcome, such as one of an earlier attempt.
  @usableFromInline
  package func removeFromOutcome<K: Key>(_ key: K.Type) {
    if let entries = self.run.outcomeEntries { entries.remove(key) }
  }

  var addsToOutcomes: Bool { self.isSet(AddsToOutcomesKey.self) }

  enum AddsToOutcomesKey: Key {
    static let defaultValue = false
  }
}

/// Entries that a run adds to the context of the event with its outcome.
final class OutcomeEntries: Sendable {
  private let entries = Locked(OperationContext())

  init() {}

  func set<K: OperationContext.Key>(_ value: K.Value, for key: K.Type) {
    self.entries.withLock { entries, released in
      released.append(entries)
      entries[key] = value
    }
  }

  func remove<K: OperationContext.Key>(_ key: K.Type) {
    self.entries.withLock { entries, released in
      guard entries.isSet(key) else { return }
      released.append(entries)
      entries.unset(key)
    }
  }

  func added(to context: OperationContext) -> OperationContext {
    let entries = self.entries.withLock { $0 }
    return entries.slots.isEmpty ? context : context.overlaid(with: entries)
  }
}
