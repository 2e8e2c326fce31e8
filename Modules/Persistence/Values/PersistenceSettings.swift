internal import OperationCore
internal import OperationFoundation
internal import Synchronization

/// How the values of an operation are stored.
struct PersistenceSettings<State: RestorableState & Sendable>: Sendable {
  let name: String
  let aliases: [String]
  let version: Int
  let maximumAge: Duration?
  let storage: (any PersistentStorage)?
  let coder: any StorageCoder
  let isExcluded: (@Sendable (State.RestorableValue) -> Bool)?
  let migrate: (@Sendable (_ bytes: [UInt8], _ version: Int) throws -> State.Restoration)?
}

extension PersistenceSettings: LevelBinding where State.Restoration: Codable {
  func place(of controls: OperationControls<State>) -> LevelPlace? {
    guard let storage = self.storage ?? controls.context.operationStorage else {
      OperationWarning(
        code: .noStorage,
        message: """
          The operation at \(ShownText.of(controls.path)) is persisted, and there is no storage for it. Its value is not stored. Set \
          `operationStorage` in the context of the client, or pass a storage to `.persisted(as:in:)`.
          """
      ).report()
      return nil
    }
    let persistence = controls.context.operationClient?.persistence
    do throws(NoStorageKey) {
      var keys: [LevelKey] = []
      for name in [self.name] + self.aliases {
        keys.append(try LevelKey(storing: name, version: self.version, at: controls.path))
      }
      let writer = StateWriters.writer(for: storage)
      persistence?.add(writer)
      return LevelPlace(writer, keys: keys)
    } catch {
      if persistence?.isFirst(error) ?? true { error.report(at: controls.path) }
      return nil
    }
  }

  func mayKeep(_ value: State.RestorableValue) -> Bool { self.isExcluded.map { !$0(value) } ?? true }

  func encode(_ restoration: State.Restoration) throws -> [UInt8] { try self.coder.encode(restoration) }

  func decode(
    _ value: LevelValue,
    in context: OperationContext
  ) throws -> (restoration: State.Restoration, isCurrent: Bool) {
    let decoded = try Envelope.decode(
      State.Restoration.self,
      from: value,
      version: self.version,
      coder: self.coder,
      migrate: self.migrate
    )
    guard let maximumAge, let date = State.valueDate(of: decoded.restoration) else { return decoded }
    let age = context.operationClock.now().timeIntervalSince(date)
    // The date is in the future if the clock was set back. The age is unknown then, and the distance is limited as
    // well.
    guard abs(age) <= maximumAge.seconds else { throw DropReason.age(seconds: age, maximum: maximumAge) }
    return decoded
  }

  func report(_ error: any Error, at place: LevelPlace) -> Bool {
    guard let reason = error as? DropReason else {
      OperationWarning.report(storageFailedTo: "read the value with the key \(place.key.text ?? "")", error)
      return false
    }
    let subject = "The stored value of the operation at \(ShownText.of(place.key.path)) with the name \"\(self.name)\""
    if case .newer = reason {
      OperationWarning(
        code: .storedVersionUnknown,
        message: """
          \(subject) is not used: \(reason). It is kept for a program that knows its version, and no other value is stored \
          in its place. `client.persistence.removeAll(matching:)` removes it.
          """
      ).report()
      return true
    }
    OperationWarning(code: .storedValueDropped, severity: .failure, message: "\(subject) is dropped: \(reason).")
      .report()
    return false
  }

  func restoringBegins(of store: any LevelStore, at place: LevelPlace) {
    self.writer(at: place).beginRestoring(store, key: place.key.text ?? "")
  }

  func restoringEnds(of store: any LevelStore, at place: LevelPlace) {
    self.writer(at: place).endRestoring(store)
  }

  func levelWasAsked(at place: LevelPlace, in context: OperationContext) {
    guard let maximumAge, let key = place.key.text else { return }
    // In whole seconds, rounded up.
    let age = UseRecord.seconds(maximumAge.seconds) ?? .max
    self.writer(at: place).setMaximumAge(age, ofValue: key, context.upkeepTime)
  }

  func valueIsUsed(at place: LevelPlace) {
    if let key = place.key.text { self.writer(at: place).noteUse(of: key) }
  }

  /// Tells whether the value is stored, and under which name. The key is left out, because it contains the path.
  func section(at place: LevelPlace?, isKept: Bool) -> StoreInspection.Section? {
    let reason = place.flatMap { place in
      place.key.text.flatMap { self.writer(at: place).reasonForNotStoring($0) }
    }
    let known = isKept ? "stored, or about to be" : "nothing is stored"
    let state = place == nil ? "no storage" : reason.map { "not stored: \($0)" } ?? known
    return StoreInspection.Section(title: "Storage", facts: ["\(self.name), version \(self.version)", state])
  }

  private func writer(at place: LevelPlace) -> StateWriter {
    // `place(of:)` alone makes places.
    unsafeDowncast(place.level, to: StateWriter.self)
  }
}
