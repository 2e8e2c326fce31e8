public import OperationCore

extension OperationClient {
  /// The persistence of the client's stores.
  public var persistence: ClientPersistence { self.attachment { ClientPersistence() } }

  /// Reads the stored values of operations at paths that start with `path`, so that stores begin with them.
  ///
  /// Call it at the start of a program, before its first stores are made: a store then has its value at once, and its
  /// subscribers hear of no earlier state. Values of other operations are not touched. A storage that cannot be read is
  /// reported, and the stores begin without values.
  ///
  /// - Parameters:
  ///   - path: The prefix of the paths; the empty path reads all values.
  ///   - storage: The storage to read; nil for the one in the client's context, and those that its stores use already.
  /// - Returns: The number of values that were read.
  /// - Complexity: O(*n*) in the number of values that are read. They are decoded when their stores are made.
  @discardableResult
  nonisolated(nonsending)
    public func restore(matching path: OperationPath = [], from storage: (any PersistentStorage)? = nil) async -> Int
  {
    let persistence = self.persistence
    if let storage = storage ?? self.defaultContext.operationStorage {
      persistence.note(StateWriters.writer(for: storage))
    } else if persistence.allWriters.isEmpty {
      OperationWarning(
        code: .noStorage,
        message: """
          Values were to be restored, and the client knows no storage. Set `operationStorage` in its context, or pass the \
          storage to `restore(matching:from:)`.
          """
      ).report()
    }
    return await persistence.restore(matching: path)
  }
}

/// Writes and restores the values of the stores of one client: see `OperationClient.persistence`.
public final class ClientPersistence: OperationClientFlushable {
  // Kept alive here, with what was read ahead.
  private let writers = Locked<[ObjectIdentifier: StateWriter]>([:])

  init() {}

  var allWriters: [StateWriter] { self.writers.withLock { Array($0.values) } }

  func note(_ writer: StateWriter) {
    self.writers.withLock { $0[ObjectIdentifier(writer)] = writer }
  }

  /// Writes the values that have changed and are not written yet, and waits until they are.
  ///
  /// Call it before the program ends, or ``/OperationCore/OperationClient/flush()``, which calls it. Without it, the changes
  /// of the last moment may be lost.
  ///
  /// - Returns: Whether all of them were written. A failure was also reported, and the values are written later. False as
  ///   well when the current task is cancelled before.
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
        message: "No stored value can have a path that starts with \(path): it has an element that is an object."
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
