internal import FoundationEssentials
internal import OperationCore

extension StorePersistence: OperationController {
  func control(with controls: OperationControls<State>) -> OperationSubscription {
    let isClaimed = self.progress.withLock { progress in
      defer { progress.isClaimed = true }
      return progress.isClaimed
    }
    if isClaimed { return .empty }
    guard let place = self.place(of: controls) else { return .empty }
    self.progress.withLock { $0.place = place }
    controls.context.operationClient?.persistence.add(place.writer)
    self.begin(at: place)
    return OperationSubscription {
      // The store is released before its value was read. A value that was set meanwhile is newer.
      if self.progress.withLock({ $0.endRestoring() }) {
        self.noteChange()
        place.writer.endRestoring(self)
      }
      // The context of the store keeps this object, which would keep the store's state.
      let place = self.progress.withLock { $0.place.take() }
      let limit = self.progress.withLock { $0.limit.take() }
      limit?.cancel()
      _ = consume place  // Released after unlocking.
    }
  }

  private func place(of controls: OperationControls<State>) -> Place? {
    guard let storage = self.settings.storage ?? controls.context.operationStorage else {
      OperationWarning(
        code: .noStorage,
        message: """
          The operation at \(controls.path) is persisted, and there is no storage for it. Its value is not stored. Set \
          `operationStorage` in the context of the client, or pass a storage to `.persisted(as:in:)`.
          """
      ).report()
      return nil
    }
    guard let key = StorageKey.value(named: self.settings.name, at: controls.path) else {
      OperationWarning(
        code: .unstorablePath,
        message: """
          The operation at \(controls.path) is persisted, and its path has an element that is an object, which has \
          another description after a restart. Its value is not stored. Use strings, numbers, or structures of them.
          """
      ).report()
      return nil
    }
    return Place(controls: controls, writer: StateWriters.writer(for: storage), key: key)
  }

  private func begin(at place: Place) {
    // A value that cannot be encoded is reported when it is written; what is stored stays valid until then.
    switch try? place.writer.lookUp(place.key) {
    case .entry(let bytes): self.restore(bytes, at: place)
    case .missing: break
    case .unknown, nil: self.read(at: place)
    }
  }

  /// Reads the stored value. A storage that does not suspend has answered when this returns.
  private func read(at place: Place) {
    self.progress.withLock { $0.isRestoring = true }
    place.writer.beginRestoring(self) { [weak self] in self?.noteChange(isForced: true) }
    self.readiness.set(false)
    // The task does not keep the store alive, because a storage may take long.
    Task.immediate(name: "restore \(place.key)") { [weak self, key = place.key, writer = place.writer] in
      var bytes: [UInt8]?
      do {
        bytes = try await writer.read(key)
        // Another store, released since, may have left a newer value that is not written yet. If that cannot be
        // encoded, its write reports it.
        if case .entry(let newer)? = try? writer.lookUp(key) { bytes = newer }
      } catch {
        OperationWarning.report(storageFailedTo: "read the value with the key \(key)", error)
      }
      self?.didRead(bytes)
    }
    guard self.isRestoring else { return }
    let context = place.controls.context
    let limit = context.operationDeadlines.schedule(after: context.operationRestorationLimit) { [readiness] in
      readiness.set(true)
    }
    let surplus = self.progress.withLock { progress in
      guard progress.isRestoring, progress.place != nil else { return OperationSubscription?.some(limit) }
      progress.limit = limit
      return nil
    }
    surplus?.cancel()
  }

  private func didRead(_ bytes: [UInt8]?) {
    let (place, wasReset) = self.progress.withLock { ($0.place, $0.wasReset) }
    if let bytes, let place, !wasReset { self.restore(bytes, at: place) }
    let limit = self.progress.withLock { progress in
      progress.isRestoring = false
      return progress.limit.take()
    }
    limit?.cancel()
    // A value may have been set meanwhile.
    self.noteChange()
    place?.writer.endRestoring(self)
    self.readiness.set(true)
  }

  private func restore(_ bytes: [UInt8], at place: Place) {
    let persisted: PersistedState<State.Restoration>
    do throws(DropReason) {
      persisted = try Envelope.read(State.Restoration.self, from: bytes, version: self.settings.version)
      try self.check(persisted.restoration, in: place.controls.context)
    } catch {
      OperationWarning(
        code: .storedValueDropped,
        severity: .failure,
        message: """
          The stored value of the operation at \(place.controls.path) with the name "\(self.settings.name)" is dropped: \
          \(error).
          """
      ).report()
      return self.remove(at: place)
    }
    let uncountedChanges = place.controls.uncountedChanges
    var restored = place.controls.stateWithoutLayers
    guard restored.valueUpdateCount == 0 else {
      // A run may have yielded the newer value, and take it back when it is cancelled: the restored one is below it.
      return place.controls.restore(persisted.restoration, isInvalidated: false)
    }
    restored.restore(persisted.restoration)
    if let isExcluded = self.settings.isExcluded, let value = restored.restorableValue, isExcluded(value) {
      return self.remove(at: place)
    }
    let stamp = Stamp(restored, isInvalidated: persisted.isInvalidated, uncountedChanges: uncountedChanges)
    // Before the change of the state, which is then known as stored.
    self.progress.withLock { $0.stamp = stamp }
    place.controls.restore(persisted.restoration, isInvalidated: persisted.isInvalidated)
  }

  private func check(_ restoration: State.Restoration, in context: OperationContext) throws(DropReason) {
    guard let maximumAge = self.settings.maximumAge, let date = State.valueDate(of: restoration) else { return }
    let age = context.operationClock.now().timeIntervalSince(date)
    // The date is in the future if the clock was set back. The age is unknown then, and the distance is limited as
    // well.
    guard abs(age) <= maximumAge.seconds else { throw .age(seconds: age, maximum: maximumAge) }
  }

  /// Removes the stored value, unless a newer one waits to be written.
  func remove(at place: Place) {
    let context = place.controls.context
    let content = StateWriter.Content(encode: nil, deadlines: context.operationDeadlines)
    guard place.writer.putIfAbsent(content, for: place.key) else { return }
    place.writer.schedule(place.key, after: context.operationPersistenceDelay, on: context.operationDeadlines)
  }
}
