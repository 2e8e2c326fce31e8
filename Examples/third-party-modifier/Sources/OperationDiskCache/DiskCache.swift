public import Foundation
public import OperationCore
internal import Synchronization

/// Keeps values in the files of a directory, one a value: a level for programs that want no database.
///
/// ```swift
/// let cache = try DiskCache(directory: URL(filePath: "/var/cache/posts"))
/// client.add(cache)
/// let query = PostQuery(id: 1).stale(after: .seconds(60)).kept(in: cache, as: "post", encode: encode, decode: decode)
/// ```
///
/// The elements of a path are strings and integers. A value at another path is not kept.
public final class DiskCache: ValueLevel {
  /// What is known of a file without reading it whole.
  struct Entry: Sendable {
    let value: LevelValue
    let path: OperationPath
    /// Distinguishes the values that were put.
    var number = 0
  }

  private struct State: Sendable {
    /// The values that have files, by the names of these.
    var entries: [String: Entry] = [:]
    /// The values that are not written yet. They are newer than the files.
    var pending: [String: Entry] = [:]
    var lastNumber = 0
    /// The last invalidations, for values that have not seen them.
    var invalidations: [InvalidationSubject: InvalidationEpoch] = [:]
    /// Values that have not seen this one are stale: it stands for invalidations that were forgotten.
    var floor = InvalidationEpoch.zero
    /// The last change of the directory. Each waits for the one before it.
    var lastChange: Task<Void, Never>?
    var failure: (any Error)?
  }

  private let files: CacheFiles
  private let state: Mutex<State>

  /// Opens a cache.
  ///
  /// - Parameter directory: Its directory, which is made if there is none. No other cache may use it.
  /// - Throws: The error of the file system.
  public init(directory: URL) throws {
    self.files = try CacheFiles(directory: directory)
    self.state = Mutex(State(entries: try self.files.entries()))
  }

  /// The directory.
  public var directory: URL { self.files.directory }

  public var name: String { "disk cache" }

  public var reach: ValueReach { .device }
}

// MARK: - Looking up

extension DiskCache {
  public func valueAtHand(for key: LevelKey, _ demand: ValueDemand) -> LevelGlance {
    guard let name = CacheFiles.name(of: key) else { return .none }
    let (pending, isWritten) = self.state.withLock { ($0.pending[name], $0.entries[name] != nil) }
    guard let pending else { return isWritten ? .unknown : .none }
    let value = self.checked(pending.value, for: key)
    return demand.isMet(by: value) ? .value(value) : .none
  }

  public nonisolated(nonsending) func lookUp(_ key: LevelKey, _ demand: ValueDemand) async throws -> LevelAnswer {
    guard let name = CacheFiles.name(of: key) else { return .none(nil) }
    let (pending, entry) = self.state.withLock { ($0.pending[name], $0.entries[name]) }
    guard let found = pending ?? entry else { return .none(nil) }
    let value = self.checked(found.value, for: key)
    guard demand.isMet(by: value) else { return .none(nil) }
    // Read here, because a store decodes on the thread that has waited for it.
    return .value(value.with(bytes: try value.bytes()))
  }

  /// The value, and whether an invalidation concerns it. Its tags may call code of the user, so no lock is held.
  private func checked(_ value: LevelValue, for key: LevelKey) -> LevelValue {
    var value = value
    let (invalidations, floor) = self.state.withLock { ($0.invalidations, $0.floor) }
    let isConcerned = invalidations.contains { Invalidation($0.key, epoch: $0.value).concerns(value, for: key) }
    value.isInvalidated = value.isInvalidated || value.seen < floor || isConcerned
    return value
  }
}

// MARK: - Changing

extension DiskCache {
  public func put(_ value: LevelValue, for key: LevelKey, under right: LevelRight?) {
    let isRemoval = value.stamp.kind == .none
    guard isRemoval || value.stamp.mayLeaveStore, let name = CacheFiles.name(of: key) else { return }
    let former = self.state.withLock { state in
      state.lastNumber += 1
      return state.pending.updateValue(Entry(value: value, path: key.path, number: state.lastNumber), forKey: name)
    }
    value.afterwards {
      // Released here, because its memory is the user's.
      _ = former
      self.change { try self.write(name, for: key) }
    }
  }

  public nonisolated(nonsending) func remove(_ scope: LevelScope, era: ClientEra) async throws {
    let removed = self.state.withLock { state -> ([String: Entry], [String: Entry]) in
      let isRemoved: (String, Entry) -> Bool = { scope.contains(LevelKey(path: $1.path, name: $0)) }
      let (entries, pending) = (state.entries.filter(isRemoved), state.pending.filter(isRemoved))
      for name in entries.keys { state.entries[name] = nil }
      for name in pending.keys { state.pending[name] = nil }
      return (entries, pending)
    }
    let names = Set(removed.0.keys).union(removed.1.keys)
    // Behind what is being written.
    self.change { for name in names { try self.files.remove(name) } }
    try await self.flush()
  }

  public func invalidate(_ invalidations: [Invalidation]) {
    let entries = self.state.withLock { state in
      for invalidation in invalidations {
        state.invalidations[invalidation.subject] = max(
          state.invalidations[invalidation.subject] ?? .zero,
          invalidation.epoch
        )
      }
      if state.invalidations.count > 1_000 {
        state.floor = state.invalidations.values.max() ?? state.floor
        state.invalidations = [:]
      }
      return state.entries
    }
    // The next process does not know of them, so the files do.
    let stale = entries.filter { name, entry in
      invalidations.contains { $0.concerns(entry.value, for: LevelKey(path: entry.path, name: name)) }
    }
    if !stale.isEmpty { self.change { for name in stale.keys { try self.files.markStale(name) } } }
  }

  public nonisolated(nonsending) func flush() async throws {
    await self.state.withLock { $0.lastChange }?.value
    if let failure = self.state.withLock({ $0.failure.take() }) { throw failure }
  }

  /// Writes the pending value with a name, unless that was done.
  private func write(_ name: String, for key: LevelKey) throws {
    guard let entry = self.state.withLock({ $0.pending[name] }) else { return }
    let value = self.checked(entry.value, for: key)
    var written: Entry?
    if value.stamp.kind == .none {
      try self.files.remove(name)
    } else {
      written = Entry(value: try self.files.write(value, for: key, as: name), path: key.path)
    }
    self.state.withLock { state in
      // A removal or another put may have come meanwhile.
      guard let pending = state.pending[name], pending.number == entry.number else { return }
      state.pending[name] = nil
      state.entries[name] = written
    }
  }

  /// Makes a change of the directory, after those before it.
  private func change(_ body: @escaping @Sendable () throws -> Void) {
    self.state.withLock { state in
      let former = state.lastChange
      state.lastChange = Task {
        await former?.value
        do { try body() } catch { self.state.withLock { $0.failure = $0.failure ?? error } }
      }
    }
  }
}
