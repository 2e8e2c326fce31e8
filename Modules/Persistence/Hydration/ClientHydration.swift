public import OperationCore
internal import OperationFoundation

extension OperationClient {
  /// The values of the client's stores at paths that start with `path`, as one value to hand over to another process.
  ///
  /// ```swift
  /// let page = try JSONEncoder().encode(client.dehydrate())                          // In a server.
  /// client.hydrate(try JSONDecoder().decode(DehydratedValues.self, from: page))      // In the other process.
  /// ```
  ///
  /// It has the values of operations with `.hydratable(as:)` that were fetched, set or restored, with their dates, and
  /// whether they were invalidated. It has no optimistic updates, initial values, default values, errors and runs. A
  /// value that cannot be encoded is left out, and reported as ``OperationCore/OperationWarning/Code/valueNotEncoded``.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Returns: The values at the time of the call. They are read one after another, so they are not one snapshot.
  /// - Complexity: O(*n*) in the number of matching stores, and in the sizes of the values.
  public func dehydrate(matching path: OperationPath = []) -> DehydratedValues {
    var values = DehydratedValues()
    for store in self.stores(matching: path) {
      if let (key, entry) = store.hydration?.dehydrated() { values.entries[key] = entry }
    }
    return values
  }

  /// Takes over values that another process has handed over.
  ///
  /// If a store exists, it shows the value and notifies its subscribers, unless its own value has the same date or a
  /// newer one. Other values are kept: a store that is made later begins with the value, and its subscribers receive no
  /// earlier state. The staleness rules of the operation apply to the date of the value. A value is kept until a store
  /// with a newer value has been released, and is discarded when stores at its path are cleared or reset.
  ///
  /// A value that an invalidation of this client concerns is shown, and is stale: it may be from before. If the other
  /// process has made the values after it had heard of the invalidations of this one, say up to which:
  ///
  /// ```swift
  /// let epoch = InvalidationEpoch.latest
  /// client.hydrate(try await server.page(), seen: epoch)
  /// ```
  ///
  /// - Parameters:
  ///   - values: The values that `dehydrate(matching:)` of another client has returned.
  ///   - epoch: The last invalidation of this process that the values have seen.
  /// - Returns: How many of the values are shown, kept, outdated or unusable.
  /// - Complexity: O(*n* + *m*) in the number of stores and of values. A value that is kept is decoded when its store is
  ///   made.
  @discardableResult
  public func hydrate(_ values: DehydratedValues, seen epoch: InvalidationEpoch = .zero) -> HydrationSummary {
    guard !values.isEmpty else { return HydrationSummary() }
    let kept = self.hydration.keep(values, seen: epoch)
    var summary = HydrationSummary(keptCount: kept.count, outdatedCount: values.count - kept.count)
    for store in self.stores() {
      guard let hydratable = store.hydration, let key = hydratable.place?.key, kept.contains(key.text ?? ""),
        case .value(let value) = self.hydration.valueAtHand(for: key, ValueDemand())
      else { continue }
      switch hydratable.take(value) {
      case .shown: summary.appliedCount += 1
      case .outdated: summary.outdatedCount += 1
      case .dropped: summary.droppedCount += 1
      }
      summary.keptCount -= 1
    }
    return summary
  }

  /// The values that were handed over to the client.
  var hydration: ClientHydration { self.attachment { ClientHydration() } }
}

/// How many of the values that were handed over are used: see `client.hydrate(_:)`.
public struct HydrationSummary: Sendable, Hashable {
  /// The number of values that stores show now.
  public internal(set) var appliedCount = 0

  /// The number of values that are kept for stores which do not exist yet. Some of these stores may never be made.
  public internal(set) var keptCount = 0

  /// The number of unused values: a store or an earlier hydration has a value of the same date or a newer one.
  public internal(set) var outdatedCount = 0

  /// The number of values that cannot be used. Each of them was reported.
  public internal(set) var droppedCount = 0

  init(keptCount: Int = 0, outdatedCount: Int = 0) {
    self.keptCount = keptCount
    self.outdatedCount = outdatedCount
  }
}

extension OpaqueOperationStore {
  /// The store as one whose value is handed over; nil for most stores.
  fileprivate var hydration: (any LevelStore)? {
    self.context.storeLevels.first { $0.place?.level is ClientHydration }
  }
}

extension LevelStore {
  /// The key and the value of the store; nil if it has none that may be handed over.
  fileprivate func dehydrated() -> (key: String, entry: DehydratedValues.Entry)? {
    guard let key = self.place?.key, let text = key.text, let value = self.currentValue() else { return nil }
    return DehydratedValues.Entry(value, for: key).map { (text, $0) }
  }
}

extension DehydratedValues.Entry {
  /// Encodes a value of a store; nil, with a report, if that is not possible.
  fileprivate init?(_ value: LevelValue, for key: LevelKey) {
    do {
      let bytes = try Envelope.write(value, version: key.version)
      self.init(date: value.date, text: String(decoding: bytes, as: UTF8.self))
    } catch {
      OperationWarning(
        code: .valueNotEncoded,
        severity: .failure,
        message: """
          The value of the operation at \(ShownText.of(key.path)) with the name "\(key.name)" is not handed over, because \
          it cannot be encoded: \(ShownText.ofEncoding(error))
          """
      ).report()
      return nil
    }
  }
}

/// The values that were handed over to a client and may still be wanted by a store.
final class ClientHydration: Sendable {
  private struct Kept: Sendable {
    let entry: DehydratedValues.Entry
    let epoch: InvalidationEpoch
    let revision: Int64
  }

  private struct State: Sendable {
    var entries: [String: Kept] = [:]
    var lastRevision: Int64 = 0

    /// Keeps a value if it is newer than the kept one.
    mutating func keep(_ entry: DehydratedValues.Entry, for key: String, seen epoch: InvalidationEpoch) -> Bool {
      if let kept = self.entries[key]?.entry, kept != entry, !entry.isNewer(than: kept) { return false }
      self.lastRevision += 1
      self.entries[key] = Kept(entry: entry, epoch: epoch, revision: self.lastRevision)
      return true
    }
  }

  private let state = Locked(State())

  /// Keeps each value that is newer than the kept value with its key, and returns the keys.
  func keep(_ values: DehydratedValues, seen epoch: InvalidationEpoch) -> Set<String> {
    self.state.withLock { state in
      Set(values.entries.filter { key, entry in state.keep(entry, for: key, seen: epoch) }.keys)
    }
  }

  /// Removes the value with a key, if the store that was released had a newer one.
  func storeWasReleased(_ key: LevelKey, with date: Date?) {
    guard let date, let text = key.storageText else { return }
    self.state.withLock { state in
      guard let entry = state.entries[text]?.entry, entry.date.map({ $0 < date }) ?? true else { return }
      state.entries[text] = nil
    }
  }
}

/// What was handed over is a level, which the stores of the client are made with.
extension ClientHydration: ValueLevel {
  var name: String { "values that were handed over" }

  var reach: ValueReach { .process }

  /// The value stays, as another store at the path may be the one that the client keeps.
  func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance {
    guard let text = key.storageText, let kept = self.state.withLock({ $0.entries[text] }) else { return .none }
    var value = LevelValue(stored: Array(kept.entry.text.utf8)) { (kept.epoch, $0.isInvalidated) }
    value.date = kept.entry.date
    value.revision = kept.revision
    return demand.isMet(by: value) ? .value(value) : .none
  }

  func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {
    guard let text = key.storageText else { return }
    if value.stamp.kind == .none {
      return self.state.withLock { state in
        if let revision = value.revision, state.entries[text]?.revision != revision { return }
        state.entries[text] = nil
      }
    }
    guard value.stamp.mayLeaveStore else { return }
    value.afterwards {
      guard let entry = DehydratedValues.Entry(value, for: key) else { return }
      self.state.withLock { state in
        state.entries[text] = nil
        _ = state.keep(entry, for: text, seen: value.seen)
      }
    }
  }

  nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {
    switch scope {
    case .everything: self.discardPreloaded(matching: [])
    case .path(let path): self.discardPreloaded(matching: path)
    }
  }

  /// Nothing to note: the client asks its own order when a store takes a value.
  func invalidate(_ invalidations: [Invalidation]) {}
}

extension ClientHydration: OperationClientPreloading {
  func discardPreloaded(matching path: OperationPath) {
    if let prefix = try? StorageKey.values(matching: path) { self.discard(prefix) }
  }

  func discardPreloaded(at path: OperationPath) {
    if let prefix = try? StorageKey.values(at: path) { self.discard(prefix) }
  }

  private func discard(_ prefix: String) {
    self.state.withLock { state in
      if !state.entries.isEmpty { state.entries = state.entries.filter { !$0.key.hasPrefix(prefix) } }
    }
  }
}
