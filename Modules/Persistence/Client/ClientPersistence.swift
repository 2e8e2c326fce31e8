public import OperationCore

extension OperationClient {
  /// The persistence of the client's stores.
  public var persistence: ClientPersistence { self.attachment { ClientPersistence() } }

  /// Reads the stored values of operations at paths that start with `path`, so that stores begin with them.
  ///
  /// Call it at the start of a program, before its first stores are made: a store then has its value at once, and its
  /// subscribers receive no earlier state. Values of other operations are not read. A storage that cannot be read is
  /// reported, and the stores begin without values.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths; the empty path reads all values.
  ///   - storage: The storage to read. If it is nil, the storage of the client's context is read, and those that its
  ///     stores use already.
  /// - Returns: The number of values that were read.
  /// - Complexity: O(*n*) in the number of values that are read. They are decoded when their stores are made.
  @discardableResult
  nonisolated(nonsending)
    public func restore(matching path: OperationPath = [], from storage: (any PersistentStorage)? = nil) async -> Int
  {
    let persistence = self.persistence
    if let storage = storage ?? self.defaultContext.operationStorage {
      persistence.add(StateWriters.writer(for: storage))
    } else if persistence.allWriters.isEmpty {
      OperationWarning(
        code: .noStorage,
        message: """
          No values can be restored, because the client has no storage. Set `operationStorage` in its context, or pass the \
          storage to `restore(matching:from:)`.
          """
      ).report()
    }
    await self.loadJournal()
    return await persistence.restore(matching: path)
  }
}

/// Writes and restores the values of the stores of one client: see `OperationClient.persistence`.
public final class ClientPersistence: OperationClientFlushable {
  // Keeps the writers alive, and the values that they have read ahead.
  private let writers = Locked<[ObjectIdentifier: StateWriter]>([:])

  init() {}

  var allWriters: [StateWriter] { self.writers.withLock { Array($0.values) } }

  func add(_ writer: StateWriter) {
    self.writers.withLock { $0[ObjectIdentifier(writer)] = writer }
  }

  /// Writes the values that have changed and are not written yet, and waits until they are.
  ///
  /// Call it before the program ends, or call ``/OperationCore/OperationClient/flush()``, which flushes everything that
  /// the client keeps. Otherwise the changes within the delay before the end are lost.
  ///
  /// - Returns: Whether all of them were written. False after a failure, which is also reported and tried again later,
  ///   and when the current task is cancelled first.
  @discardableResult
  public func flush() async -> Bool {
    var areWritten = true
    for writer in self.allWriters where await !writer.flush() { areWritten = false }
    return areWritten
  }

  nonisolated(nonsending) func restore(matching path: OperationPath) async -> Int {
    guard let prefix = StorageKey.values(matching: path) else {
      OperationWarning(
        code: .unstorablePath,
        message: "No value can be stored at a path that starts with \(path), because an element of it is an object."
      ).report()
      return 0
    }
    var count = 0
    for writer in self.allWriters {
      do {
        count += try await writer.readAll(prefix)
      } catch {
        OperationWarning.report(storageFailedTo: "read the values at \(path)", error)
      }
    }
    return count
  }
}
