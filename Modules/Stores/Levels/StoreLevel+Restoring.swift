internal import OperationFoundation
internal import Synchronization

extension StoreLevel: OperationController {
  package func control(with controls: OperationControls<State>) -> OperationSubscription {
    guard self.progress.withLock({ $0.claim() }), let place = self.binding.place(of: controls) else { return .empty }
    let kept = Kept(controls: controls, place: place)
    self.progress.withLock { $0.beginRestoring(kept) }
    self.begin(at: kept)
    self.binding.levelWasAsked(at: place, in: controls.context)
    return OperationSubscription { self.storeWasReleased(from: kept) }
  }

  /// Puts the last change: the store may be released while its level is asked. A value set meanwhile is newer.
  private func storeWasReleased(from kept: Kept) {
    let limit = self.progress.withLock { $0.endRestoring() }
    limit?.cancel()
    self.readiness.set(true)
    self.noteChange()
    self.binding.restoringEnds(of: self, at: kept.place)
    self.binding.storeWasReleased(at: kept.place, valueDate: kept.controls.stateWithoutLayers.valueLastUpdatedAt)
    // The context of the store keeps this object, which would keep the store's state.
    let taken = self.progress.withLock { $0.end() }
    _ = consume taken  // Released after unlocking.
  }

  private func begin(at kept: Kept) {
    // What the levels have is of the former user, and is being removed.
    if kept.controls.context.storeHost?.clearing != nil {
      return self.finish(with: nil, asked: .latest, isObserved: false)
    }
    // First, so that a removal of the value finds the store.
    self.binding.restoringBegins(of: self, at: kept.place)
    let (asked, demand) = (InvalidationEpoch.latest, ValueDemand(at: kept.controls.context.date))
    for (index, key) in kept.place.keys.enumerated() {
      switch kept.place.level.valueAtHand(for: key, demand) {
      case .value(let value): return self.finish(with: value, isAlias: index > 0, asked: asked, isObserved: false)
      case .none: continue
      case .unknown: return self.lookUp(at: kept, demand, asked: asked)
      }
    }
    self.finish(with: nil, asked: asked, isObserved: false)
  }

  /// Looks the value up. A level that does not suspend has answered when this returns.
  private func lookUp(at kept: Kept, _ demand: ValueDemand, asked: InvalidationEpoch) {
    self.readiness.set(false)
    self.observe(kept)
    // The task does not keep the store alive, because a level may take long.
    let (binding, place) = (self.binding, kept.place)
    let name = "restore \(ShownText.of(place.key.path))"
    let executor = kept.controls.context.operationTaskConfiguration.executorPreference
    Task.immediate(name: name, executorPreference: executor) { [weak self] in
      var found: LevelValue?
      var isAlias = false
      do {
        for (index, key) in place.keys.enumerated() where found == nil {
          switch try await place.level.lookUp(key, demand) {
          case .value(let value): (found, isAlias) = (value, index > 0)
          case .none(let right): if let right { place.level.giveUp(right) }
          }
        }
      } catch {
        _ = binding.report(error, at: place)
      }
      self?.finish(with: found, isAlias: isAlias, asked: asked, isObserved: true)
      self?.readiness.set(true)
    }
    guard self.isRestoring else { return }
    let context = kept.controls.context
    let limit = context.operationDeadlines.schedule(after: context.operationRestorationLimit) { [readiness] in
      readiness.set(true)
    }
    let surplus = self.progress.withLock { $0.limitRestoring(by: limit) }
    surplus?.cancel()
  }

  /// Begins to note the changes of the store.
  private func observe(_ kept: Kept) {
    if self.binding.takesChanges { _ = kept.controls.storeReference.observer { self } }
  }

  /// - Parameters:
  ///   - value: The value of the level; nil if there is none, or it could not be looked up.
  ///   - isAlias: Whether it has a name of an earlier version of the program.
  ///   - asked: The last invalidation when the level was asked.
  ///   - isObserved: Whether the changes of the store are noted already. The value that a store begins with is no change.
  private func finish(
    with value: LevelValue?,
    isAlias: Bool = false,
    asked: InvalidationEpoch,
    isObserved: Bool
  ) {
    let kept = self.kept
    if let kept, let value {
      self.binding.valueIsUsed(at: kept.place)
      // A reset and a removal of the value are before or after this, never in between.
      kept.controls.withExclusiveAccess { _ in
        guard self.progress.withLock({ $0.wantsAnswer }) else { return }
        _ = self.take(value, isAlias: isAlias, asked: asked, at: kept)
      }
    }
    if let kept, !isObserved { self.observe(kept) }
    let limit = self.progress.withLock { $0.endRestoring() }
    limit?.cancel()
    // A value may have been set meanwhile.
    self.noteChange()
    if let kept { self.binding.restoringEnds(of: self, at: kept.place) }
  }

  /// Puts a value of the level into the store, which this thread has exclusive access to, if it is the newer one.
  private func take(_ value: LevelValue, isAlias: Bool = false, asked: InvalidationEpoch, at kept: Kept) -> LevelArrival
  {
    let (own, stamp) = kept.controls.stampedState
    // Where possible, this is decided without decoding the value. A yielded value may be taken back.
    if stamp.kind != .partial, let date = value.date, let ownDate = own.valueLastUpdatedAt, date <= ownDate {
      return .outdated
    }
    let (restoration, isCurrent): (State.Restoration, Bool)
    do {
      (restoration, isCurrent) = try self.binding.decode(value, in: kept.controls.context)
    } catch {
      if self.binding.report(error, at: kept.place) {
        self.progress.withLock { $0.keepLater() }
      } else {
        self.removeKeptValue(value, at: kept)
      }
      return .dropped
    }
    if own.valueUpdateCount == 0 {
      var restored = own
      restored.restore(restoration)
      if let restorable = restored.restorableValue, !self.binding.mayKeep(restorable) {
        self.removeKeptValue(value, at: kept)
        return .dropped
      }
    }
    let uncountedChanges = kept.controls.uncountedChanges
    let ticket = self.progress.withLock { $0.notedTicket }
    // A level with an order has told what it knew when it was asked.
    let known = kept.place.level.order == nil ? value.seen : max(value.seen, asked)
    let latest = kept.place.level.reach == .device ? kept.controls.context.date : nil
    guard let isInvalidated = kept.controls.take(restoration, of: value, since: known, until: latest)
    else { return .outdated }
    let (state, restored) = kept.controls.stampedState
    let version = PutVersion(state, isInvalidated: isInvalidated, uncountedChanges: uncountedChanges)
    // The state is known as kept, unless a flush has put another one meanwhile.
    let put = self.value(restoration, of: state, restored, at: kept)
    self.progress.withReleasing { progress, released in
      guard progress.notedTicket == ticket, isCurrent, !isAlias else { return }
      progress.version = version
      released.append(progress.put)
      progress.put = put
    }
    return .shown
  }

  /// Removes a value from the level, unless the level has a newer one.
  private func removeKeptValue(_ value: LevelValue, at kept: Kept) {
    let turn = LevelTurn()
    var removal = self.removal(at: kept, in: turn)
    removal.revision = value.revision
    for key in kept.place.keys { kept.place.level.put(removal, for: key, under: nil) }
    turn.perform()
  }
}

extension StoreLevel: LevelStore {
  package var place: LevelPlace? { self.kept?.place }

  package func handOver() { self.noteChange(isForced: true) }

  package func valueWasRemoved() {
    guard let kept = self.kept else { return }
    kept.controls.withExclusiveAccess { controls in
      let count = controls.stateWithoutLayers.valueUpdateCount
      self.progress.withReleasing { progress, released in
        released.append(progress.put.take())
        progress.removedCount = count
        progress.valueWasRemoved()
      }
    }
  }

  package func currentValue() -> LevelValue? {
    guard let kept = self.kept else { return nil }
    let epoch = kept.controls.valueEpoch
    let (state, stamp) = kept.controls.stampedState
    guard stamp.mayLeaveStore, var value = self.value(of: state, stamp, at: kept) else { return nil }
    value.seen = epoch
    value.isInvalidated = kept.controls.isInvalidated
    return value
  }

  package func take(_ value: LevelValue) -> LevelArrival {
    guard let kept = self.kept else { return .outdated }
    return kept.controls.withExclusiveAccess { _ in
      self.take(value, asked: InvalidationEpoch.latest, at: kept)
    }
  }
}
