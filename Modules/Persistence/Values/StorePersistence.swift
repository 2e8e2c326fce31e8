internal import FoundationEssentials
internal import OperationCore

/// Restores the state of one store, and hands its changes to the writer of the storage.
final class StorePersistence<State: RestorableState & Sendable>: Sendable where State.Restoration: Codable {
  /// What tells one stored state from another, without comparing values.
  struct Stamp: Equatable, Sendable {
    let valueUpdateCount: Int
    let valueLastUpdatedAt: Date?
    let errorUpdateCount: Int
    let isInvalidated: Bool
    let uncountedChanges: Int

    init?(_ state: State, isInvalidated: Bool, uncountedChanges: Int) {
      guard state.valueUpdateCount > 0 else { return nil }
      self.valueUpdateCount = state.valueUpdateCount
      self.valueLastUpdatedAt = state.valueLastUpdatedAt
      self.errorUpdateCount = state.errorUpdateCount
      self.isInvalidated = isInvalidated
      self.uncountedChanges = uncountedChanges
    }
  }

  /// The store, as long as it exists, and its place in the storage.
  struct Place: Sendable {
    let controls: OperationControls<State>
    let writer: StateWriter
    let key: String
  }

  struct Progress: Sendable {
    var place: Place?
    /// Set once: a store that the operation's runs make with their context is another one.
    var isClaimed = false
    var isRestoring = false
    var wasReset = false
    /// The stamp of what is stored, or waits to be.
    var stamp: Stamp?
    var lastTicket: UInt64 = 0
    /// The ticket of the change that was noted last.
    var notedTicket: UInt64 = 0
    var limit: OperationSubscription?

    /// Returns whether the state was being restored.
    mutating func endRestoring() -> Bool {
      defer { self.isRestoring = false }
      return self.isRestoring
    }
  }

  let settings: PersistenceSettings<State>
  let readiness = RestorationReadiness()
  let progress = Locked(Progress())

  init(_ settings: PersistenceSettings<State>) {
    self.settings = settings
  }
}

extension StorePersistence: OperationRestoration {
  var isRestoring: Bool { self.progress.withLock { $0.isRestoring } }

  func storeWillReset() {
    let place = self.progress.withLock { progress -> Place? in
      guard progress.isRestoring else { return nil }
      progress.wasReset = true
      return progress.place
    }
    // The change that follows leaves a state without a value as it was, so it would not remove the stored one.
    if let place { self.remove(at: place) }
  }

  func storeWasInvalidated() {
    self.noteChange()
  }
}

// MARK: - Noting changes

extension StorePersistence {
  /// Hands the state of the store to the writer, if its value is another than the one that is stored.
  ///
  /// - Parameter isForced: Whether that is done even while the stored value is being read.
  func noteChange(isForced: Bool = false) {
    // A later ticket stands for a later state: the state is read after the ticket was taken, and each change is noted.
    let (place, ticket) = self.progress.withLock { progress in
      progress.lastTicket += 1
      // What is stored must not be replaced before it was read: the run that has yielded the new value may be cancelled.
      return (progress.isRestoring && !isForced ? nil : progress.place, progress.lastTicket)
    }
    guard let place else { return }
    // Before the state: a change between the two is noted once more.
    let uncountedChanges = place.controls.uncountedChanges
    let state = place.controls.stateWithoutLayers
    let isInvalidated = place.controls.isInvalidated
    let stamp = Stamp(state, isInvalidated: isInvalidated, uncountedChanges: uncountedChanges)
    let context = place.controls.context
    let content = StateWriter.Content(
      encode: self.encoding(of: state, isInvalidated: isInvalidated),
      deadlines: context.operationDeadlines
    )
    let isNew = self.progress.withLock { progress, released in
      // The change that is reported when the store is made, and while it is restored, is not one of the value.
      guard ticket > progress.notedTicket else { return false }
      progress.notedTicket = ticket
      guard stamp != progress.stamp else { return false }
      progress.stamp = stamp
      released.append(place.writer.put(content, for: place.key))
      return true
    }
    guard isNew else { return }
    place.writer.schedule(place.key, after: context.operationPersistenceDelay, on: context.operationDeadlines)
  }

  /// Returns a closure that encodes a state; nil if there is nothing that may be stored.
  private func encoding(of state: State, isInvalidated: Bool) -> (@Sendable () throws -> [UInt8])? {
    guard let restoration = state.restoration else { return nil }
    if let isExcluded = self.settings.isExcluded, let value = state.restorableValue, isExcluded(value) { return nil }
    let version = self.settings.version
    return {
      let state = PersistedState(restoration: restoration, isInvalidated: isInvalidated)
      return try Envelope.write(state, version: version)
    }
  }
}

/// Satisfied when the state of a store has been restored, or when that has taken too long.
final class RestorationReadiness: OperationRunSpecification, Sendable {
  // On from the beginning: a store waits only once reading has begun.
  private let isReady = Broadcast(true)

  func isSatisfied(in context: OperationContext) -> Bool { self.isReady.value }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.isReady.subscribe { _ in onChange() }
  }

  func set(_ isReady: Bool) {
    if self.isReady.value != isReady { self.isReady.send(isReady) }
  }
}
