internal import OperationCore
internal import OperationFoundation
internal import Synchronization

extension StorePersistence: StoreObserver {
  var observedEvents: StoreEvent.Kinds { .states }

  /// Notes each change of the state after the stored value was restored.
  func receive(_ event: StoreEvent, of store: StoreReference) {
    if case .stateChanged = event.what { self.noteChange() }
  }
}

extension StorePersistence: OperationController {
  func control(with controls: OperationControls<State>) -> OperationSubscription {
    let isClaimed = self.progress.withLock { progress in
      defer { progress.isClaimed = true }
      return progress.isClaimed
    }
    if isClaimed { return .empty }
    guard let destination = self.destination(of: controls) else { return .empty }
    self.progress.withLock { progress in
      progress.destination = destination
      progress.isRestoring = true
    }
    controls.context.operationClient?.persistence.add(destination.writer)
    self.begin(at: destination)
    if let age = self.settings.maximumAgeInSeconds {
      destination.writer.setMaximumAge(age, ofValue: destination.key, controls.context.upkeepTime)
    }
    return OperationSubscription { self.storeWasReleased(from: destination) }
  }

  /// Passes the last change on: the store may be released while its stored value is read. A value set meanwhile is newer.
  private func storeWasReleased(from destination: Destination) {
    self.progress.withLock { $0.isRestoring = false }
    self.readiness.set(true)
    self.noteChange()
    destination.writer.endRestoring(self)
    // The context of the store keeps this object, which would keep the store's state.
    let (taken, limit) = self.progress.withLock { ($0.destination.take(), $0.limit.take()) }
    limit?.cancel()
    _ = consume taken  // Released after unlocking.
  }

  private func destination(of controls: OperationControls<State>) -> Destination? {
    guard let storage = self.settings.storage ?? controls.context.operationStorage else {
      OperationWarning(
        code: .noStorage,
        message: """
          The operation at \(ShownText.of(controls.path)) is persisted, and there is no storage for it. Its value is not \
          stored. Set `operationStorage` in the context of the client, or pass a storage to `.persisted(as:in:)`.
          """
      ).report()
      return nil
    }
    do throws(NoStorageKey) {
      let key = try StorageKey.value(named: self.settings.name, at: controls.path)
      var aliasKeys: [String] = []
      for name in self.settings.aliases { aliasKeys.append(try StorageKey.value(named: name, at: controls.path)) }
      return Destination(
        controls: controls,
        writer: StateWriters.writer(for: storage),
        key: key,
        aliasKeys: aliasKeys
      )
    } catch {
      let persistence = controls.context.operationClient?.persistence
      if persistence?.isFirst(error) ?? true { error.report(at: controls.path) }
      return nil
    }
  }

  private func begin(at destination: Destination) {
    // First, so that a removal of the value finds the store.
    destination.writer.beginRestoring(self, key: destination.key)
    // A value that cannot be encoded is reported when it is written; what is stored stays valid until then.
    var isAlias = false
    for key in [destination.key] + destination.aliasKeys {
      guard let stored = try? destination.writer.lookUp(key) else { return self.read(at: destination) }
      if stored.bytes != nil || key == destination.aliasKeys.last || destination.aliasKeys.isEmpty {
        return self.finish(with: stored, isAlias: isAlias)
      }
      isAlias = true
    }
  }

  /// Reads the stored value. A storage that does not suspend has answered when this returns.
  private func read(at destination: Destination) {
    self.readiness.set(false)
    self.observe(destination)
    // The task does not keep the store alive, because a storage may take long.
    let (key, aliasKeys, writer) = (destination.key, destination.aliasKeys, destination.writer)
    Task.immediate(name: "restore \(key)") { [weak self] in
      var stored: StoredValue?
      var isAlias = false
      do {
        stored = try await writer.read(key)
        for alias in aliasKeys where stored?.bytes == nil {
          stored = try await writer.read(alias)
          isAlias = true
        }
      } catch {
        OperationWarning.report(storageFailedTo: "read the value with the key \(key)", error)
      }
      self?.finish(with: stored, isAlias: isAlias)
      self?.readiness.set(true)
    }
    guard self.isRestoring else { return }
    let context = destination.controls.context
    let limit = context.operationDeadlines.schedule(after: context.operationRestorationLimit) {
      [readiness] in
      readiness.set(true)
    }
    let surplus = self.progress.withLock { progress in
      guard progress.isRestoring, progress.destination != nil else { return OperationSubscription?.some(limit) }
      progress.limit = limit
      return nil
    }
    surplus?.cancel()
  }

  /// Begins to note the changes of the store, unless it has begun.
  private func observe(_ destination: Destination) {
    let isObserving = self.progress.withLock { progress in
      defer { progress.isObserving = true }
      return progress.isObserving
    }
    if !isObserving { _ = destination.controls.storeReference.observer { self } }
  }

  /// - Parameters:
  ///   - stored: The stored value; nil if it could not be read.
  ///   - isAlias: Whether it has a name of an earlier version of the program.
  private func finish(with stored: StoredValue?, isAlias: Bool = false) {
    let destination = self.destination
    if let destination, let stored, let bytes = stored.bytes {
      destination.writer.noteUse(of: destination.key)
      // A reset and a removal of the value are before or after this, never in between.
      destination.controls.withExclusiveAccess { _ in
        if self.progress.withLock({ $0.ignoresStoredValue }) { return }
        self.restore(bytes, number: stored.number, isAlias: isAlias, at: destination)
      }
    }
    // Now at the latest. Nobody has been told of the value of a store that is made with it.
    if let destination { self.observe(destination) }
    let limit = self.progress.withLock { progress in
      progress.isRestoring = false
      return progress.limit.take()
    }
    limit?.cancel()
    // A value may have been set meanwhile.
    self.noteChange()
    destination?.writer.endRestoring(self)
  }

  /// Puts a stored value into the store, which this thread has exclusive access to.
  private func restore(_ bytes: [UInt8], number: UInt64, isAlias: Bool, at destination: Destination) {
    let persisted: PersistedState<State.Restoration>
    var isMigrated = isAlias
    var migrate: (([UInt8], Int) throws -> State.Restoration)?
    if let migration = self.settings.migrate {
      migrate = { bytes, version in
        isMigrated = true
        return try migration(bytes, version)
      }
    }
    do throws(DropReason) {
      persisted = try Envelope.read(
        State.Restoration.self,
        from: bytes,
        version: self.settings.version,
        coder: self.settings.coder,
        migrate: migrate
      )
      try self.check(persisted.restoration, in: destination.controls.context)
    } catch {
      if case .newer = error { return self.keepNewerValue(error, at: destination) }
      OperationWarning(
        code: .storedValueDropped,
        severity: .failure,
        message: """
          The stored value of the operation at \(destination.controls.path) with the name "\(self.settings.name)" is dropped: \
          \(error).
          """
      ).report()
      return self.removeStoredValue(number: number, at: destination)
    }
    let uncountedChanges = destination.controls.uncountedChanges
    let state = destination.controls.stateWithoutLayers
    let (epoch, isInvalidated) = destination.writer.check(destination.key, persisted.mark)
    guard state.valueUpdateCount == 0 else {
      // A run may have yielded the newer value, and take it back when it is cancelled: the restored one is below it.
      return destination.controls.restore(persisted.restoration, isInvalidated: false, seen: epoch)
    }
    if let isExcluded = self.settings.isExcluded {
      var restored = state
      restored.restore(persisted.restoration)
      if let value = restored.restorableValue, isExcluded(value) {
        return self.removeStoredValue(number: number, at: destination)
      }
    }
    let ticket = self.progress.withLock { $0.notedTicket }
    destination.controls.restore(persisted.restoration, isInvalidated: isInvalidated, seen: epoch)
    let restored = destination.controls.stateWithoutLayers
    let stamp = StateStamp(
      restored,
      isInvalidated: isInvalidated,
      uncountedChanges: uncountedChanges
    )
    // The state is known as stored, unless a flush has passed another one on meanwhile.
    let value = self.storableValue(of: persisted.restoration, in: restored)
    self.progress.withLock { progress in
      guard progress.notedTicket == ticket, !isMigrated else { return }
      progress.stamp = stamp
      progress.stored = value
    }
  }

  /// Leaves a value of a later version of the program where it is.
  private func keepNewerValue(_ reason: DropReason, at destination: Destination) {
    self.progress.withLock { $0.keepsStoredValue = true }
    OperationWarning(
      code: .storedVersionUnknown,
      message: """
        The stored value of the operation at \(destination.controls.path) with the name "\(self.settings.name)" is not used: \
        \(reason). It is kept for a program that knows its version, and no other value is stored in its place. \
        `client.persistence.removeAll(matching:)` removes it.
        """
    ).report()
  }

  private func check(_ restoration: State.Restoration, in context: OperationContext) throws(DropReason) {
    guard let maximumAge = self.settings.maximumAge, let date = State.valueDate(of: restoration) else { return }
    let age = context.operationClock.now().timeIntervalSince(date)
    // The date is in the future if the clock was set back. The age is unknown then, and the distance is limited as
    // well.
    guard abs(age) <= maximumAge.seconds else { throw .age(seconds: age, maximum: maximumAge) }
  }

  /// Removes the stored value, unless it was changed after the change with a number.
  private func removeStoredValue(number: UInt64, at destination: Destination) {
    let content = destination.content(of: nil, self.settings)
    for key in [destination.key] + destination.aliasKeys {
      if destination.writer.put(content, for: key, ifUnchangedSince: number) { destination.schedule() }
    }
  }
}

/// What a removal of stored values, or a flush, needs of a store, whatever its state.
protocol StoredValueOwner: AnyObject, Sendable {
  /// Passes the changes of the store to the writer, although its stored value was not read yet.
  func handOver()
  /// Called when the stored value was removed on demand: it must not be shown.
  func storedValueWasRemoved()
}

extension StorePersistence: StoredValueOwner {
  func handOver() { self.noteChange(isForced: true) }

  func storedValueWasRemoved() {
    guard let destination = self.destination else { return }
    destination.controls.withExclusiveAccess { controls in
      let count = controls.stateWithoutLayers.valueUpdateCount
      self.progress.withLock { progress, released in
        released.append(progress.stored.take())
        progress.removedCount = count
        progress.ignoresStoredValue = true
        progress.keepsStoredValue = false
      }
    }
  }
}
