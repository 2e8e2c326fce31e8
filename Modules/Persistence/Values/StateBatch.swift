internal import OperationCore

/// A value that is being written.
struct BatchItem: Sendable {
  let key: String
  let item: StateWriter.Item
}

/// Values that are being written, in the order in which they changed, and the changes of the storage.
struct StateBatch: Sendable {
  private(set) var items: [BatchItem] = []
  /// The changes, each with the index of its value.
  private(set) var changes: [(index: Int, change: StorageChange)] = []
  /// The values that cannot be encoded, which have no change.
  private(set) var unencodable: [BatchItem] = []

  /// Encodes values, and reports those that cannot be encoded.
  init(_ items: ArraySlice<BatchItem>) {
    self.items = Array(items)
    self.changes.reserveCapacity(items.count)
    for (index, entry) in self.items.enumerated() {
      let content = entry.item.content
      guard let encode = content.encode else {
        self.changes.append((index, .remove(key: entry.key)))
        continue
      }
      do {
        self.changes.append((index, .put(key: entry.key, value: try encode())))
      } catch {
        self.unencodable.append(entry)
        OperationWarning(
          code: .valueNotEncoded,
          message: "The value of the operation at \(content.label) cannot be encoded, so it is not stored: \(error)"
        ).report()
      }
    }
  }

  mutating func append(_ other: StateBatch?) {
    guard let other else { return }
    let start = self.items.count
    self.items += other.items
    self.changes += other.changes.map { ($0.index + start, $0.change) }
    self.unencodable += other.unencodable
  }
}

extension StateWriter.Content {
  /// What the content belongs to, for warnings.
  var label: String { "\(self.path) with the name \"\(self.name)\"" }
}
