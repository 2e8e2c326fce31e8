internal import OperationCore
internal import OperationFoundation
internal import Synchronization

/// A storage is a level: it keeps the values of all stores that are persisted in it.
extension StateWriter: ValueLevel {
  var name: String { "\(type(of: self.storage))" }

  var reach: ValueReach { .device }

  var order: EpochOrder? { EpochOrder(id: self.state.withLock { $0.invalidations.process }) }

  func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance {
    guard let text = key.storageText else { return .none }
    guard let stored = try? self.lookUp(text) else { return .unknown }
    return self.value(of: stored, at: text, demand).map { .value($0) } ?? .none
  }

  nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer {
    guard let text = key.storageText else { return .none(nil) }
    return try await self.value(of: self.read(text), at: text, demand).map { .value($0) } ?? .none(nil)
  }

  private func value(of stored: StoredValue, at key: String, _ demand: ValueDemand) -> LevelValue? {
    guard let bytes = stored.bytes else { return nil }
    var value = LevelValue(stored: bytes) { self.check(key, $0) }
    value.revision = Int64(clamping: stored.number)
    return demand.isMet(by: value) ? value : nil
  }

  func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {
    guard value.stamp.kind == .none || value.stamp.mayLeaveStore, let text = key.storageText else { return }
    let context = value.context
    let deadlines = context.operationDeadlines
    var content = Content(encode: nil, path: key.path, name: key.name, deadlines: deadlines)
    if value.stamp.kind != .none {
      let isInvalidated = value.isInvalidated || value.stamp.kind == .partial
      let seen = isInvalidated ? nil : self.seen(value.seen, deadlines)
      content.encode = { try Envelope.write(value, version: key.version, seen: seen) }
    }
    content.dated = value.date.flatMap(UseRecord.seconds)
    content.maximumAge = value.maximumAge.map { UseRecord.seconds($0.seconds) ?? .max }
    if let revision = value.revision {
      guard self.put(content, for: text, ifUnchangedSince: UInt64(clamping: revision)) else { return }
      return value.afterwards { self.schedule(text, after: context.operationPersistenceDelay, on: deadlines) }
    }
    let replaced = self.put(content, for: text)
    value.afterwards {
      _ = replaced
      self.schedule(text, after: context.operationPersistenceDelay, on: deadlines)
    }
  }

  nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {
    let path: OperationPath = if case .path(let path) = scope { path } else { [] }
    // What has no key has no value.
    guard let prefix = try? StorageKey.values(matching: path) else { return }
    try await self.wait(for: self.beginRemoval(prefix))
    try await self.storage.overwriteRemovedEntries()
  }

  func invalidate(_ invalidations: [Invalidation]) {
    let deadlines = self.state.withLock { $0.retryDeadlines } ?? OperationContext().operationDeadlines
    for invalidation in invalidations {
      guard let text = StoredSubject.text(of: invalidation.subject) else { continue }
      self.note([text], at: invalidation.epoch, deadlines)
    }
  }

  /// Writes all values that wait. A failure is reported.
  nonisolated(nonsending) func flush() async throws {
    guard await self.writeAll() else {
      throw StorageError(code: .busy, message: "Not all values are written. They are tried again later.")
    }
  }
}

extension LevelKey {
  /// The text of the key in storages; nil if an element of its path has none.
  var storageText: String? { self.text ?? (try? StorageKey.value(named: self.name, at: self.path)) }

  /// Creates a key with its text.
  init(storing name: String, version: Int, at path: OperationPath) throws(NoStorageKey) {
    let text = try StorageKey.value(named: name, at: path)
    self.init(path: path, name: name, version: version, text: text)
  }
}

extension LevelValue {
  /// Reads what ``Envelope/write(_:version:seen:)`` has written.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - check: What the value has seen of this process, and whether it is invalidated, by its mark.
  init(stored bytes: [UInt8], _ check: (ValueMark) -> (epoch: InvalidationEpoch, isInvalidated: Bool)) {
    do throws(DropReason) {
      let (version, mark, end) = try Envelope.read(bytes)
      let (epoch, isInvalidated) = check(mark)
      self.init(
        stamp: mark.stamp,
        seen: epoch,
        isInvalidated: isInvalidated,
        version: version,
        tags: mark.tags.compactMap { StoredSubject.tag(ofText: $0) }
      ) {
        Array(bytes[end...])
      }
    } catch {
      self.init(stamp: ValueStamp(.final)) { [error] in throw error }
    }
  }
}
