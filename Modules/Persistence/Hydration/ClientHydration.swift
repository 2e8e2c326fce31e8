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
      if let (key, entry) = store.context.storeHydration?.dehydrated() { values.entries[key] = entry }
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
      guard let hydratable = store.context.storeHydration, let key = hydratable.key, kept.contains(key)
      else { continue }
      switch self.hydration.apply(to: hydratable, key: key) {
      case .applied: summary.appliedCount += 1
      case .outdated: summary.outdatedCount += 1
      case .dropped: summary.droppedCount += 1
      case nil: continue
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

/// The values that were handed over to a client and may still be wanted by a store.
final class ClientHydration: Sendable {
  private struct Kept: Equatable {
    let entry: DehydratedValues.Entry
    let epoch: InvalidationEpoch
  }

  private let entries = Locked<[String: Kept]>([:])

  /// Keeps each value that is newer than the kept value with its key, and returns the keys.
  func keep(_ values: DehydratedValues, seen epoch: InvalidationEpoch) -> Set<String> {
    self.entries.withLock { entries in
      var keys: Set<String> = []
      for (key, entry) in values.entries {
        if let kept = entries[key]?.entry, kept != entry, !entry.isNewer(than: kept) { continue }
        entries[key] = Kept(entry: entry, epoch: epoch)
        keys.insert(key)
      }
      return keys
    }
  }

  /// Gives the value with a key to a store.
  ///
  /// The value stays, as another store at the path may be the one that the client keeps. A value that cannot be used is
  /// removed.
  ///
  /// - Returns: Whether the store has taken the value; nil if there is no value.
  @discardableResult
  func apply(to store: some HydratableStore, key: String) -> HydrationOutcome? {
    guard let kept = self.entries.withLock({ $0[key] }) else { return nil }
    let outcome = store.hydrate(with: kept.entry, seen: kept.epoch)
    if outcome == .dropped { self.entries.withLock { if $0[key] == kept { $0[key] = nil } } }
    return outcome
  }

  /// Removes the value with a key, if the store that was released had a newer one.
  func storeWasReleased(_ key: String, with date: Date?) {
    guard let date else { return }
    self.entries.withLock { entries in
      guard let entry = entries[key]?.entry, entry.date.map({ $0 < date }) ?? true else { return }
      entries[key] = nil
    }
  }
}

extension ClientHydration: OperationClientPreloading {
  func discardPreloaded(matching path: OperationPath) {
    if let prefix = try? StorageKey.values(matching: path) { self.discard(prefix) }
  }

  func discardPreloaded(at path: OperationPath) {
    if let prefix = try? StorageKey.values(at: path) { self.discard(prefix) }
  }

  private func discard(_ prefix: String) {
    self.entries.withLock { entries in
      if !entries.isEmpty { entries = entries.filter { !$0.key.hasPrefix(prefix) } }
    }
  }
}
