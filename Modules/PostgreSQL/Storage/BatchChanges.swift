#if SwiftOperationPostgreSQL
  internal import OperationPersistence

  /// The changes of a batch: the last one of each key, and a number by which the server knows the batch again.
  struct BatchChanges: Sendable {
    private var removed: [[UInt8]] = []
    private var keys: [[UInt8]] = []
    private var values: [[UInt8]] = []
    let id: [UInt8]

    init(_ batch: [StorageChange]) {
      var generator = SystemRandomNumberGenerator()
      self.id = (0..<2).flatMap { _ in withUnsafeBytes(of: generator.next() as UInt64) { Array($0) } }
      // Bytes, because strings with different bytes may be equal.
      var seen: Set<[UInt8]> = []
      for change in batch.reversed() {
        let key = Array(change.key.utf8)
        guard seen.insert(key).inserted else { continue }
        switch change {
        case .put(_, let value):
          self.keys.append(key)
          self.values.append(value)
        case .remove: self.removed.append(key)
        }
      }
    }

    /// Whether the batch removes entries other than values, and puts none.
    ///
    /// A call that has succeeded must not come back with a crash of the server. A value that does is compared with the invalidations,
    /// as every stored one.
    var removesOthersThanValues: Bool {
      self.keys.isEmpty && !self.removed.allSatisfy { $0.starts(with: StorageKey.values.utf8) }
    }

    var parameters: [QueryValue] {
      [.bytes(self.id), .byteArray(self.removed), .byteArray(self.keys), .byteArray(self.values)]
    }
  }
#endif
