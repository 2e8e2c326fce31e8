internal import OperationCore

/// A value that is being written.
struct BatchItem: Sendable {
  let key: String
  let item: StateWriter.Item
}

/// Values that are being written, in the order in which they changed, and the changes of the storage.
struct StateBatch: Sendable {
  /// The change of one value, and of what is known of it.
  struct Change: Sendable {
    /// The index of the value.
    var index: Int
    let value: StorageChange
    /// What is stored beside the value; nil if nothing is.
    var record: UseRecord?
    /// Whether a record that is stored is removed.
    var removesRecord = false

    /// Whether it concerns a value; otherwise, an invalidation that the storage remembers.
    var isOfValue: Bool { self.value.key.hasPrefix(StorageKey.values) }

    /// The changes of the storage.
    var all: [StorageChange] {
      let key = StorageKey.use(ofValue: self.value.key)
      if let record { return [self.value, .put(key: key, value: record.bytes)] }
      return self.removesRecord ? [self.value, .remove(key: key)] : [self.value]
    }
  }

  private(set) var items: [BatchItem] = []
  private(set) var changes: [Change] = []
  /// The values that cannot be encoded or are too large, which have no change, and why.
  private(set) var leftOut: [(item: BatchItem, reason: String)] = []

  /// Encodes values, and reports those that cannot be encoded or are too large.
  ///
  /// - Parameters:
  ///   - items: The values.
  ///   - limits: The limits of the storage.
  ///   - now: The seconds since the reference date; nil if that is not known.
  init(_ items: ArraySlice<BatchItem>, limits: StorageLimits?, now: Int64?) {
    self.items = Array(items)
    self.changes.reserveCapacity(items.count)
    for (index, entry) in self.items.enumerated() {
      let content = entry.item.content
      let isOfValue = entry.key.hasPrefix(StorageKey.values)
      let hasRecord = isOfValue && (limits != nil || content.maximumAge != nil)
      guard let encode = content.encode else {
        self.changes.append(Change(index: index, value: .remove(key: entry.key), removesRecord: hasRecord))
        continue
      }
      do {
        let bytes = try encode()
        if isOfValue, let refusal = limits?.refusal(ofBytes: entry.key.utf8.count + bytes.count) {
          self.leftOut.append((entry, refusal))
          content.report(tooLarge: refusal)
          continue
        }
        var change = Change(index: index, value: .put(key: entry.key, value: bytes))
        if hasRecord { change.record = UseRecord(of: bytes, content, now: now) }
        self.changes.append(change)
      } catch {
        let failure = ShownText.ofEncoding(error)
        self.leftOut.append((entry, "it cannot be encoded: \(failure)"))
        OperationWarning(
          code: .valueNotEncoded,
          message: "The value of the operation at \(content.label) cannot be encoded, so it is not stored: \(failure)"
        ).report()
      }
    }
  }

  mutating func append(_ other: StateBatch?) {
    guard let other else { return }
    let start = self.items.count
    self.items += other.items
    self.changes += other.changes.map { change in
      var change = change
      change.index += start
      return change
    }
    self.leftOut += other.leftOut
  }
}

extension StateWriter.Content {
  /// What the content belongs to, for warnings.
  var label: String { "\(ShownText.of(self.path)) with the name \"\(self.name)\"" }

  fileprivate func report(tooLarge reason: String) {
    OperationWarning(
      code: .valueNotStored,
      severity: .failure,
      message: """
        The value of the operation at \(self.label) is not stored: \(reason). It is left out until it changes, and what \
        was stored before stays. Raise `client.persistence.limits`, or leave such values out with `excluding:`.
        """
    ).report()
  }
}

extension UseRecord {
  fileprivate init(of bytes: [UInt8], _ content: StateWriter.Content, now: Int64?) {
    let used = now ?? content.dated ?? 0
    self.init(
      used: used,
      dated: content.dated,
      maximumAge: content.maximumAge,
      checksum: UseRecord.checksum(of: bytes)
    )
  }
}
