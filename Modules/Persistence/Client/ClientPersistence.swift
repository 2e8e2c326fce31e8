public import OperationCore
internal import Synchronization

extension OperationClient {
  /// The persistence of the client's stores.
  public var persistence: ClientPersistence { self.attachment { ClientPersistence(client: self) } }

  /// Reads the stored values of operations at paths that start with `path`, so that stores begin with them.
  ///
  /// Call it at the start of a program, before its first stores are made: a store then has its value at once, and its
  /// subscribers receive no earlier state. Values of other operations are not read. A storage that cannot be read is
  /// reported, and the stores begin without values. Values with keys that earlier versions of the library made are
  /// removed, and reported as ``OperationCore/OperationWarning/Code/storedValueDropped``.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths; the empty path reads all values.
  ///   - storage: The storage to read. If it is nil, the storage of the client's context is read, and each storage that
  ///     a store of the client uses already.
  /// - Returns: The number of values that were read.
  /// - Complexity: O(*n*) in the number of values that are read. They are decoded when their stores are made.
  @discardableResult
  nonisolated(nonsending)
    public func restore(matching path: OperationPath = [], from storage: (any PersistentStorage)? = nil) async -> Int
  {
    await self.loadJournal()
    return await self.persistence.restore(matching: path, from: storage)
  }
}

/// Writes and restores the values of the stores of one client: see `OperationClient.persistence`.
public final class ClientPersistence: OperationClientFlushable {
  weak let client: OperationClient?
  // Keeps the writers alive, with the values that they have read ahead.
  private let writers = Mutex<[ObjectIdentifier: StateWriter]>([:])
  /// The types without a key that were reported.
  private let reportedTypes = Locked<Set<ObjectIdentifier>>([])
  let currentLimits = Locked<StorageLimits?>(nil)
  /// The writers whose values are being removed, because the client clears everything.
  let uncleared = Locked<[ObjectIdentifier: StateWriter]>([:])

  init(client: OperationClient) {
    self.client = client
  }

  var allWriters: [StateWriter] { self.writers.withLock { Array($0.values) } }

  func add(_ writer: StateWriter) {
    let isNew = self.writers.withLock { $0.updateValue(writer, forKey: ObjectIdentifier(writer)) == nil }
    // After it was added: an invalidation at the same time is in the log, or is passed on.
    if isNew, let client = self.client {
      writer.state.withLock { state in
        state.retryDeadlines = client.defaultContext.operationDeadlines
        state.clients.removeAll { $0.persistence == nil }
        state.clients.append(WriterClient(persistence: self))
      }
      writer.invalidate(client.invalidations.entries.map { Invalidation($0.subject, epoch: $0.epoch) })
    }
    guard isNew, let limits = self.limits, let time = self.upkeepTime else { return }
    writer.setLimits(limits, time)
  }

  /// Writes the values that have changed and are not written yet, and waits until they are.
  ///
  /// Call it before the program ends, or call ``/OperationCore/OperationClient/flush()``, which flushes everything that
  /// the client keeps. Otherwise the changes within the delay before the end are lost.
  ///
  /// Values that cannot be stored are left out, and the other values are written. Left out are values that the storage
  /// refuses although it accepts others (reported as ``OperationCore/OperationWarning/Code/valueNotStored``), and
  /// values that cannot be encoded (``OperationCore/OperationWarning/Code/valueNotEncoded``).
  ///
  /// - Returns: True if all values were written. False if a value was left out, if writing has failed, which is
  ///   reported and tried again later, or if the current task was cancelled first.
  @discardableResult
  public func flush() async -> Bool {
    var areWritten = true
    for writer in self.allWriters where await !writer.writeAll() { areWritten = false }
    return areWritten
  }

  /// Whether an element without a key is the first of its type.
  func isFirst(_ error: NoStorageKey) -> Bool {
    self.reportedTypes.withLock { $0.insert(ObjectIdentifier(error.type)).inserted }
  }
}

// MARK: - Restoring

extension ClientPersistence {
  nonisolated(nonsending)
    fileprivate func restore(matching path: OperationPath, from storage: (any PersistentStorage)?) async -> Int
  {
    guard self.findWriters(of: storage, to: "restore values") else { return 0 }
    let prefix: String
    do throws(NoStorageKey) {
      prefix = try StorageKey.values(matching: path)
    } catch {
      error.report(at: path)
      return 0
    }
    var count = 0
    for writer in self.allWriters {
      do {
        let read = try await writer.readAll(prefix)
        count += read.count
        if !read.outdated.isEmpty { await self.remove(outdated: read.outdated, from: writer.storage) }
        if let time = self.upkeepTime { writer.beginUpkeep(time) }
      } catch {
        OperationWarning.report(storageFailedTo: "read the values at \(ShownText.of(path))", error)
      }
    }
    return count
  }

  nonisolated(nonsending)
    private func remove(outdated keys: [String], from storage: any PersistentStorage) async
  {
    OperationWarning(
      code: .storedValueDropped,
      message: """
        \(keys.count) stored values are dropped, because an earlier version of the library has stored them under keys \
        that it does not use any more, such as \(keys[0]).
        """
    ).report()
    do {
      // No store writes these keys, so the removal need not be ordered among the changes of stores.
      try await storage.apply(keys.map { .remove(key: $0) })
    } catch {
      OperationWarning.report(storageFailedTo: "remove \(keys.count) values", error)
    }
  }

  /// Adds the writer of the client's storage, if it has one.
  func addWriterOfClient() {
    if let storage = self.client?.defaultContext.operationStorage { self.add(StateWriters.writer(for: storage)) }
  }

  /// Adds the writer of a storage, or of the client's. Returns whether there are writers, and reports if there are none.
  func findWriters(of storage: (any PersistentStorage)?, to action: String) -> Bool {
    if let storage { self.add(StateWriters.writer(for: storage)) } else { self.addWriterOfClient() }
    if !self.allWriters.isEmpty { return true }
    OperationWarning(
      code: .noStorage,
      message: """
        The client cannot \(action), because it has no storage. Set `operationStorage` in its context, or pass the \
        storage to the method.
        """
    ).report()
    return false
  }
}

// MARK: - Removing

extension ClientPersistence {
  /// Removes all values at paths that start with `path`, so that none of them comes back.
  ///
  /// When a user signs out, call ``/OperationCore/OperationClient/clearEverything(within:switching:)``, which removes all
  /// that the client has, too.
  ///
  /// It removes stored values, values that were restored and have no store yet, and values that are being written or
  /// wait for it. It also removes values of stores that do not exist, and values that other clients have in the
  /// storage. A value that a store is reading at the moment is not shown. A store that exists keeps the value that it
  /// shows until it is reset or cleared; that value is not stored again, but later values are. Calls in a
  /// ``MutationJournal`` stay. What was removed is then unreadable in the files of an SQLite storage, also in its log:
  /// see ``PersistentStorage/overwriteRemovedEntries()``.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths; the empty path removes all values.
  ///   - storage: The storage. If it is nil, the values are removed from the storage of the client's context, and from
  ///     each storage that a store of the client uses already.
  /// - Throws: The error of a storage that cannot be read or written. Some of the values may still be stored then: call
  ///   the method again. `CancellationError` when the task is cancelled; the removal continues then.
  /// - Complexity: O(*n*) in the number of values that are removed, and of stores at these paths.
  nonisolated(nonsending)
    public func removeAll(matching path: OperationPath = [], from storage: (any PersistentStorage)? = nil) async throws
  {
    guard self.findWriters(of: storage, to: "remove values") else { return }
    let prefix: String
    do throws(NoStorageKey) {
      prefix = try StorageKey.values(matching: path)
    } catch {
      return error.report(at: path)
    }
    let removals = self.allWriters.map { ($0, $0.beginRemoval(prefix)) }
    for store in self.client?.stores(matching: path) ?? [] {
      for level in store.context.storeLevels where level.place?.level is StateWriter { level.valueWasRemoved() }
    }
    var failure: (any Error)?
    for (writer, removal) in removals {
      do {
        try await writer.wait(for: removal)
        try await writer.storage.overwriteRemovedEntries()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

// MARK: - Clearing

extension ClientPersistence: OperationClientPreloading {
  public func discardPreloaded(matching path: OperationPath) {
    let writers = self.allWriters
    // What cannot be stored cannot be read ahead.
    guard !writers.isEmpty, let prefix = try? StorageKey.values(matching: path) else { return }
    for writer in writers { writer.discardReadAhead(prefix) }
  }

  public func discardPreloaded(at path: OperationPath) {
    let writers = self.allWriters
    guard !writers.isEmpty, let prefix = try? StorageKey.values(at: path) else { return }
    for writer in writers { writer.discardReadAhead(prefix) }
  }
}

// MARK: - Invalidations

/// The storages remember what is invalidated, for values that no store has at the time.
extension ClientPersistence: InvalidationRelay {
  public func willInvalidate(
    _ subjects: [InvalidationSubject],
    at epoch: InvalidationEpoch,
    from relay: (any InvalidationRelay)?
  ) {
    if self.allWriters.isEmpty { self.addWriterOfClient() }
    let invalidations = subjects.map { Invalidation($0, epoch: epoch) }
    for writer in self.allWriters { writer.invalidate(invalidations) }
  }
}
