#if SwiftOperationPostgreSQL
  internal import OperationPersistence

  /// The entries that batches had as conditions and left as they were, with who has written them.
  ///
  /// A batch with the same conditions need not read them again: the server compares who has written them with its changes. The
  /// storage reads them if that is another one.
  struct ComparedEntries: Sendable {
    private static let maximum = 16

    private var writers: [StorageCondition: Int64] = [:]

    /// Who has written the entries, 0 for those that are absent; nil if that is not known of all of them.
    func writers(of conditions: [StorageCondition]) -> [Int64]? {
      var found: [Int64] = []
      for condition in conditions {
        guard let writer = self.writers[condition] else { return nil }
        found.append(writer)
      }
      return found
    }

    /// Keeps who has written entries that held for a batch.
    ///
    /// - Parameters:
    ///   - conditions: The conditions of the batch.
    ///   - writers: Who has written their entries.
    ///   - batch: The changes. Entries that they change have another writer now.
    mutating func note(_ conditions: [StorageCondition], _ writers: [Int64], heldFor batch: [StorageChange]) {
      for (condition, writer) in zip(conditions, writers) where !batch.contains(where: { $0.key == condition.key }) {
        if self.writers.count == Self.maximum, self.writers[condition] == nil { self.writers = [:] }
        self.writers[condition] = writer
      }
    }

    /// Forgets entries that were written since.
    mutating func forget(_ conditions: [StorageCondition]) {
      for condition in conditions { self.writers[condition] = nil }
    }
  }
#endif
