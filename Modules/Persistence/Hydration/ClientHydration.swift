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
  /// whether they were invalidated. Optimistic updates, initial and default values, errors and runs are not in it. A value
  /// that cannot be encoded is left out, and reported as ``OperationCore/OperationWarning/Code/valueNotEncoded``.
  ///
  /// - Parameter path: The prefix; the empty path matches all stores.
  /// - Returns: The values at the time of the call, each as it is by itself: they are not one snapshot.
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
  /// A store that exists shows the value, and its subscribers are notified, unless the store's own value is of the same
  /// date or newer. The other values are kept: a store that is made later begins with its value, and no subscriber
  /// receives an earlier state. A value is as stale as its date says, by the staleness rules of its operation. It is kept
  /// until a store with a newer value has been released, and discarded when stores at its path are cleared or reset.
  ///
  /// - Parameter values: The values, which `dehydrate(matching:)` of another client has returned.
  /// - Returns: What has become of the values.
  /// - Complexity: O(*n* + *m*) in the number of stores and of values. A value that is kept is decoded when its store is
  ///   made.
  @discardableResult
  public func hydrate(_ values: DehydratedValues) -> HydrationSummary {
    guard !values.isEmpty else { return HydrationSummary() }
    let kept = self.hydration.keep(values)
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

/// What has become of values that were handed over: see `client.hydrate(_:)`.
public struct HydrationSummary: Sendable, Hashable {
  /// The number of values that stores show now.
  public internal(set) var appliedCount = 0

  /// The number of values that are kept for stores which do not exist yet. Nothing may ever ask for some of them.
  public internal(set) var keptCount = 0

  /// The number of values that are not used, because a store or an earlier hydration has one that is not older.
  public internal(set) var outdatedCount = 0

  /// The number of values that cannot be used, each of which was reported.
  public internal(set) var droppedCount = 0

  init(keptCount: Int = 0, outdatedCount: Int = 0) {
    self.keptCount = keptCount
    self.outdatedCount = outdatedCount
  }
}

/// The values that were handed over to a client and may still be wanted by a store.
final class ClientHydration: Sendable {
  private let entries = Locked<[String: DehydratedValues.Entry]>([:])

  /// Keeps the values that are newer than those that are kept already, and returns their keys.
  func keep(_ values: DehydratedValues) -> Set<String> {
    self.entries.withLock { entries in
      var keys: Set<String> = []
      for (key, entry) in values.entries {
        if let kept = entries[key], kept != entry, !entry.isNewer(than: kept) { continue }
        entries[key] = entry
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
  /// - Returns: What has become of the value; nil if there is none.
  @discardableResult
  func apply(to store: some HydratableStore, key: String) -> HydrationOutcome? {
    guard let entry = self.entries.withLock({ $0[key] }) else { return nil }
    let outcome = store.hydrate(with: entry)
    if outcome == .dropped { self.entries.withLock { if $0[key] == entry { $0[key] = nil } } }
    return outcome
  }

  /// Removes the value with a key, if the store that was released had a newer one.
  func storeWasReleased(_ key: String, with date: Date?) {
    guard let date else { return }
    self.entries.withLock { entries in
      guard let entry = entries[key], entry.date.map({ $0 < date }) ?? true else { return }
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
