#if SwiftOperationPostgreSQL
  /// Which entries others have changed, by the last batches of the stripes of their kinds: those that the batches of this
  /// storage leave are known.
  ///
  /// Answers of the server may come in another order than it has given them. Then a change of this storage may count, and one
  /// of others always does: a batch has a number of its own, so nothing becomes as it was before.
  struct ForeignChanges: Sendable {
    /// The last change of the entries of a kind in a stripe.
    struct Change: Sendable {
      let prefix: [UInt8]
      let stripe: Int64
      /// The number of the batch before; nil for none.
      let before: [UInt8]?
    }

    private struct Kind: Sendable {
      var number: Int64 = 0
      /// The last batches, by stripes.
      var batches: [Int64: [UInt8]]
    }

    private var kinds: [[UInt8]: Kind] = [:]

    /// The first component of a key or prefix, with the slash at its end; nil if it has none that the server tells apart.
    static func prefix(of text: String) -> [UInt8]? {
      let start = text.utf8.prefix(100)
      return start.firstIndex(of: UInt8(ascii: "/")).map { Array(start[...$0]) }
    }

    /// Notes the last batches of a kind that were read, and returns the number of changes.
    mutating func note(_ batches: [Int64: [UInt8]], of prefix: [UInt8]) -> Int64 {
      var kind = self.kinds[prefix] ?? Kind(batches: batches)
      if kind.batches != batches { kind.number += 1 }
      kind.batches = batches
      self.kinds[prefix] = kind
      return kind.number
    }

    /// Notes what a batch of this storage has changed.
    mutating func note(_ changes: [Change], madeBy batch: [UInt8]) {
      for change in changes {
        guard var kind = self.kinds[change.prefix], kind.batches[change.stripe] != batch else { continue }
        // Others were there before.
        if kind.batches[change.stripe] != change.before { kind.number += 1 }
        kind.batches[change.stripe] = batch
        self.kinds[change.prefix] = kind
      }
    }
  }
#endif
