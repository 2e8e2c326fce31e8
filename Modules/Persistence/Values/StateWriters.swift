internal import OperationCore
internal import Synchronization

/// The writers of the storages that are in use.
enum StateWriters {
  private struct Entry: Sendable {
    weak var writer: StateWriter?
  }

  private static let known = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The writer of a storage. It lives as long as a store, a client or a value that is to be written needs it.
  static func writer(for storage: any PersistentStorage) -> StateWriter {
    let id = ObjectIdentifier(storage)
    // Each store asks for it, and nearly always there is one.
    if let writer = self.known.withLock({ $0[id]?.writer }) { return writer }
    let made = StateWriter(storage: storage)
    return self.known.withLock { known, released in
      // A writer keeps its storage alive, so no other storage has the identifier of one with a writer.
      if let writer = known[id]?.writer {
        released.append(made)
        return writer
      }
      if known.count >= 16, known.count & (known.count - 1) == 0 {
        for (id, entry) in known {
          guard let writer = entry.writer else {
            known[id] = nil
            continue
          }
          // This may be the last reference by now.
          released.append(writer)
        }
      }
      known[id] = Entry(writer: made)
      return made
    }
  }
}
