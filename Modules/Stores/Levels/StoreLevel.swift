internal import OperationFoundation
internal import Synchronization

/// Keeps the value of one store in a level: the store begins with the value that the level has, and its changes are put.
package final class StoreLevel<Binding: LevelBinding>: Sendable {
  package typealias State = Binding.State

  /// The store, as long as it exists, and the place of its value.
  final class Kept: Sendable {
    let controls: OperationControls<State>
    let place: LevelPlace

    init(controls: OperationControls<State>, place: LevelPlace) {
      self.controls = controls
      self.place = place
    }
  }

  let binding: Binding
  /// What readers wait for, and the automatic runs of the store if it has any.
  let readiness: RestorationReadiness
  let progress = Mutex(LevelProgress())

  init(_ binding: Binding, readiness: RestorationReadiness) {
    self.binding = binding
    self.readiness = readiness
  }

  /// What ``progress`` has, with its type.
  func typed(_ kept: (any AnyObject & Sendable)?) -> Kept? {
    guard let kept else { return nil }
    // `control(with:)` alone sets it.
    return unsafeDowncast(kept, to: Kept.self)
  }

  var kept: Kept? { self.typed(self.progress.withLock { $0.kept }) }
}

extension StoreLevel {
  package var isRestoring: Bool { self.progress.withLock { $0.isRestoring } }

  nonisolated(nonsending) package func restored() async { await self.readiness.wait() }

  package func storeWillReset() {
    let turn = LevelTurn()
    let erased = self.progress.withLock { progress in
      // Values are counted from zero again.
      progress.removedCount = nil
      return progress.refuseAnswer()
    }
    guard let kept = self.typed(erased) else { return }
    // The change that follows leaves a state without a value as it was, so it would not remove the kept one.
    let removal = self.removal(at: kept, in: turn)
    self.progress.withReleasing { progress, released in
      guard progress.puts(at: kept) else { return }
      progress.version = nil
      released.append(progress.put.take())
      guard self.binding.takesChanges else { return }
      kept.place.level.put(removal, for: kept.place.key, under: nil)
    }
    turn.perform()
  }

  package func storeWasInvalidated() {
    self.noteChange()
  }
}

// MARK: - Changes

extension StoreLevel: StoreObserver {
  package var observedEvents: StoreEvent.Kinds { .states }

  /// Notes each change of the state after the level has answered.
  package func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .stateChanged = event.what { self.noteChange() }
  }
}

extension StoreLevel {
  /// Puts the value of the store, if it differs from the one that was put.
  ///
  /// - Parameter isForced: Whether to do so even while the value of the level is being looked up.
  ///
  /// A store that is being released makes the last call, before its place is taken away. So a change is put whichever of
  /// restoring and releasing ends first.
  func noteChange(isForced: Bool = false) {
    guard self.binding.takesChanges else { return }
    // A later ticket means a later state, because the state is read after the ticket was taken.
    let (erased, ticket) = self.progress.withLock { $0.takeTicket(isForced: isForced) }
    guard let kept = self.typed(erased) else { return }
    // Read before the state: a change between the two calls this function once more.
    let uncountedChanges = kept.controls.uncountedChanges
    let epoch = kept.controls.valueEpoch
    let (state, stamp) = kept.controls.stampedState
    let isInvalidated = kept.controls.isInvalidated
    let version = PutVersion(
      state,
      // A partial value is kept, and is no more fresh later than it is now.
      isInvalidated: isInvalidated || stamp.kind == .partial,
      uncountedChanges: uncountedChanges
    )
    // Nothing is made for a state that is known, as it is when a store is made or restored.
    let isKnown = self.progress.withLock { progress in
      guard ticket > progress.notedTicket else { return true }
      guard version == progress.version else { return false }
      progress.notedTicket = ticket
      return true
    }
    if isKnown { return }
    let turn = LevelTurn()
    let mayLeave = stamp.mayLeaveStore
    var value = mayLeave ? self.value(of: state, stamp, at: kept) : nil
    value?.seen = epoch
    value?.isInvalidated = isInvalidated
    value?.turn = turn
    let (new, removal) = (value, self.removal(at: kept, in: turn))
    self.progress.withReleasing { progress, released in
      // Some changes do not concern the value, such as those when a store is made or restored.
      guard progress.puts(at: kept), ticket > progress.notedTicket else { return }
      progress.notedTicket = ticket
      if !mayLeave { return progress.keepValue(isInvalidated: version?.isInvalidated ?? false, kept.place, turn) }
      guard version != progress.version else { return }
      progress.version = version
      let isRemoved = version.map { $0.valueUpdateCount <= progress.removedCount ?? -1 } ?? false
      released.append(progress.put)
      progress.put = isRemoved ? nil : new
      kept.place.level.put(isRemoved ? removal : new ?? removal, for: kept.place.key, under: nil)
      // Otherwise the next start would find the value under its old name.
      guard isRemoved || new == nil else { return }
      for key in kept.place.keys.dropFirst() { kept.place.level.put(removal, for: key, under: nil) }
    }
    turn.perform()
  }

  /// The value of a state to put; nil if it has none, or one that may not be kept.
  func value(of state: State, _ stamp: ValueStamp, at kept: Kept) -> LevelValue? {
    guard let restoration = state.restoration else { return nil }
    if let value = state.restorableValue, !self.binding.mayKeep(value) { return nil }
    return self.value(restoration, of: state, stamp, at: kept)
  }

  /// A value to put that is known to be allowed.
  func value(_ restoration: State.Restoration, of state: State, _ stamp: ValueStamp, at kept: Kept) -> LevelValue {
    let (binding, context) = (self.binding, kept.controls.context)
    let tagging: (any ValueTagging)? = context.valueTagging
    var value = LevelValue(
      stamp: stamp,
      date: State.valueDate(of: restoration),
      tags: tagging?.tags(of: state) ?? []
    ) {
      try binding.encode(restoration)
    }
    value.maximumAge = binding.maximumAge
    value.context = context
    return value
  }

  /// What is put to remove the value of the level.
  func removal(at kept: Kept, in turn: LevelTurn) -> LevelValue {
    var removal = LevelValue(stamp: ValueStamp(.none))
    removal.context = kept.controls.context
    removal.maximumAge = self.binding.maximumAge
    removal.turn = turn
    return removal
  }
}

extension StoreLevel: OperationExplaining {
  package func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
    let (erased, isKept) = self.progress.withLock { ($0.kept, $0.version != nil) }
    if let section = self.binding.section(at: self.typed(erased)?.place, isKept: isKept) {
      inspection.sections.append(section)
    }
  }
}
