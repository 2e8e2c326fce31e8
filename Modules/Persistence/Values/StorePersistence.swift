internal import OperationCore
internal import OperationFoundation
internal import Synchronization

/// Restores the state of one store, and passes its changes to the writer of the storage.
final class StorePersistence<State: RestorableState & Sendable>: Sendable where State.Restoration: Codable {
  /// The store, as long as it exists, and its destination in the storage.
  final class Destination: Sendable {
    let controls: OperationControls<State>
    let writer: StateWriter
    let key: String
    /// The keys of the names that the value had earlier.
    let aliasKeys: [String]

    init(controls: OperationControls<State>, writer: StateWriter, key: String, aliasKeys: [String]) {
      self.controls = controls
      self.writer = writer
      self.key = key
      self.aliasKeys = aliasKeys
    }
  }

  let settings: PersistenceSettings<State>
  /// What readers wait for, and the automatic runs of the store if it has any.
  let readiness: RestorationReadiness
  let progress = Mutex(PersistenceProgress())

  init(_ settings: PersistenceSettings<State>, readiness: RestorationReadiness) {
    self.settings = settings
    self.readiness = readiness
  }

  /// A destination in ``progress``, with its type.
  func typed(_ destination: (any AnyObject & Sendable)?) -> Destination? {
    guard let destination else { return nil }
    // `control(with:)` alone sets it.
    return unsafeDowncast(destination, to: Destination.self)
  }

  var destination: Destination? { self.typed(self.progress.withLock { $0.destination }) }
}

/// How far a store is restored. It has no types of users, so that the many accesses to it do not look types up.
struct PersistenceProgress: Sendable {
  /// The destination of the ``StorePersistence``.
  var destination: (any AnyObject & Sendable)?
  /// Whether a store uses this object. Another one, which a run makes with its context, does not.
  var isClaimed = false
  var isRestoring = false
  /// Whether the stored value must not be shown, because the store was reset or the value removed meanwhile.
  var ignoresStoredValue = false
  /// Whether the stored value is of a later version of the program, so that no other is stored in its place.
  var keepsStoredValue = false
  /// The update count of the value when the stored one was removed. That value is not stored again.
  var removedCount: Int?
  /// The stamp of the state that is stored, or waits to be.
  var stamp: StateStamp?
  /// The value that is stored, or waits to be; nil for none.
  var stored: StorableValue?
  var lastTicket: UInt64 = 0
  /// Whether changes of the store are noted.
  var isObserving = false
  /// The ticket of the newest change that was passed on.
  var notedTicket: UInt64 = 0
  var limit: OperationSubscription?

  /// Whether values still go to a destination.
  ///
  /// Asked in one step with the writing: a store that a client removes is detached first. What a thread has begun before would
  /// otherwise be stored after the client has removed all values.
  func isAttached(to destination: any AnyObject & Sendable) -> Bool { self.destination === destination }
}

/// A value that may be stored.
struct StorableValue: Sendable {
  /// Its date, in seconds since the reference date.
  let dated: Int64?
  /// Encodes the value with a mark, to which it adds the tags.
  let encode: @Sendable (ValueMark) throws -> [UInt8]
}

extension StorePersistence: OperationRestoration {
  var isRestoring: Bool { self.progress.withLock { $0.isRestoring } }

  nonisolated(nonsending) func restored() async { await self.readiness.wait() }

  func storeWillReset() {
    let erased = self.progress.withLock { progress -> (any AnyObject & Sendable)? in
      // Values are counted from zero again.
      progress.removedCount = nil
      guard progress.isRestoring else { return nil }
      progress.ignoresStoredValue = true
      return progress.destination
    }
    guard let destination = self.typed(erased) else { return }
    // The change that follows leaves a state without a value as it was, so it would not remove the stored one.
    let content = destination.content(of: nil, self.settings)
    self.progress.withLock { progress, released in
      guard progress.isAttached(to: destination) else { return }
      progress.stamp = nil
      released.append(progress.stored.take())
      released.append(destination.writer.put(content, for: destination.key))
    }
    destination.schedule()
  }

  func storeWasInvalidated() {
    self.noteChange()
  }
}

// MARK: - Changes

extension StorePersistence {
  /// Passes the state of the store to the writer, if its value differs from the stored one.
  ///
  /// - Parameter isForced: Whether to do so even while the stored value is being read.
  ///
  /// A store that is being released makes the last call, before its destination is taken away. So a change is passed on
  /// whichever of restoring and releasing ends first.
  func noteChange(isForced: Bool = false) {
    // A later ticket means a later state, because the state is read after the ticket was taken.
    let (erased, ticket) = self.progress.withLock { progress in
      progress.lastTicket += 1
      // The stored value must not be replaced before it was read: a cancelled run may take the new value back.
      return (progress.isRestoring && !isForced ? nil : progress.destination, progress.lastTicket)
    }
    guard let destination = self.typed(erased) else { return }
    // Read before the state: a change between the two calls this function once more.
    let uncountedChanges = destination.controls.uncountedChanges
    let epoch = destination.controls.valueEpoch
    let (state, valueStamp) = destination.controls.stampedState
    // A partial value is stored, and is no more fresh after a restart than it is now.
    let isInvalidated = destination.controls.isInvalidated || valueStamp.kind == .partial
    let stamp = StateStamp(state, isInvalidated: isInvalidated, uncountedChanges: uncountedChanges)
    // Nothing is made for a state that is known, as it is when a store is made or restored.
    let isKnown = self.progress.withLock { progress in
      guard ticket > progress.notedTicket else { return true }
      guard stamp == progress.stamp || progress.keepsStoredValue else { return false }
      progress.notedTicket = ticket
      return true
    }
    if isKnown { return }
    if !valueStamp.mayLeaveStore {
      return self.keepStoredValue(isInvalidated: isInvalidated, ticket, at: destination)
    }
    let value = self.storableValue(of: state)
    var mark = ValueMark(isInvalidated: isInvalidated)
    if value != nil, !isInvalidated {
      mark.seen = destination.writer.seen(epoch, destination.controls.context.operationDeadlines)
    }
    let content = destination.content(of: value, marked: mark, self.settings)
    let removal = destination.content(of: nil, self.settings)
    let isNew = self.progress.withLock { progress, released in
      // Some changes do not concern the value, such as those when a store is made or restored.
      guard progress.isAttached(to: destination), ticket > progress.notedTicket else { return false }
      progress.notedTicket = ticket
      guard stamp != progress.stamp, !progress.keepsStoredValue else { return false }
      progress.stamp = stamp
      let isRemoved = if let stamp, let count = progress.removedCount { stamp.valueUpdateCount <= count } else { false }
      let isGone = isRemoved || value == nil
      released.append(progress.stored)
      progress.stored = isGone ? nil : value
      released.append(destination.writer.put(isRemoved ? removal : content, for: destination.key))
      // Otherwise the next start would find the value under its old name.
      for key in destination.aliasKeys where isGone { released.append(destination.writer.put(removal, for: key)) }
      return true
    }
    if isNew { destination.schedule() }
  }

  /// Leaves the stored value as it is while the store shows one that may not be stored. An invalidation concerns the
  /// stored value, too.
  private func keepStoredValue(isInvalidated: Bool, _ ticket: UInt64, at destination: Destination) {
    let isNew = self.progress.withLock { progress, released in
      guard progress.isAttached(to: destination), ticket > progress.notedTicket else { return false }
      progress.notedTicket = ticket
      guard isInvalidated, progress.stamp?.isInvalidated == false, let value = progress.stored else { return false }
      progress.stamp?.isInvalidated = true
      let content = destination.content(of: value, marked: .invalidated, self.settings)
      released.append(destination.writer.put(content, for: destination.key))
      return true
    }
    if isNew { destination.schedule() }
  }

  /// The value of a state to store; nil if it has none, or one that may not be stored.
  func storableValue(of state: State) -> StorableValue? {
    guard let restoration = state.restoration else { return nil }
    if let isExcluded = self.settings.isExcluded, let value = state.restorableValue, isExcluded(value) { return nil }
    return self.storableValue(of: restoration, in: state)
  }

  /// A value to store that is known to be allowed.
  ///
  /// - Parameters:
  ///   - restoration: The value.
  ///   - state: The state that has it.
  /// - Returns: The value to store.
  func storableValue(of restoration: State.Restoration, in state: State) -> StorableValue {
    let (version, coder) = (self.settings.version, self.settings.coder)
    let tagging: (any ValueTagging)? = self.destination?.controls.context.valueTagging
    return StorableValue(dated: state.valueLastUpdatedAt.flatMap(UseRecord.seconds)) { mark in
      var mark = mark
      if let tagging, !mark.isInvalidated {
        mark.tags = tagging.tags(of: state).compactMap { StoredSubject.text(ofTag: $0) }
      }
      return try Envelope.write(PersistedState(restoration: restoration, mark: mark), version: version, coder: coder)
    }
  }
}

extension StorePersistence.Destination {
  /// What is written of a value; of nil its removal.
  func content(
    of value: StorableValue?,
    marked mark: ValueMark = ValueMark(),
    _ settings: PersistenceSettings<State>
  ) -> StateWriter.Content {
    var encode: (@Sendable () throws -> [UInt8])?
    if let value { encode = { try value.encode(mark) } }
    return StateWriter.Content(
      encode: encode,
      path: self.controls.path,
      name: settings.name,
      deadlines: self.controls.context.operationDeadlines,
      dated: value?.dated,
      maximumAge: settings.maximumAgeInSeconds
    )
  }

  /// Schedules what was put to be written.
  func schedule() {
    let context = self.controls.context
    for key in [self.key] + self.aliasKeys {
      self.writer.schedule(key, after: context.operationPersistenceDelay, on: context.operationDeadlines)
    }
  }
}
