internal import OperationCore
internal import Synchronization

/// What became of the values of a batch.
struct BatchResult {
  /// The values that are written or left out.
  var settled: [BatchItem] = []
  /// Those of the settled values that are left out, and why.
  var unstored: [(item: BatchItem, reason: String)] = []
  /// The values that are written later.
  var postponed: [BatchItem] = []
  /// Whether the storage cannot be written at all.
  var isStorageDown = false
  /// Whether another process has removed all values, so that none of the batch is written.
  var isOfFormerEra = false
}

extension StateWriter {
  /// Makes the changes of a batch. If the storage refuses it, finds the values that it refuses, and writes the others.
  func apply(_ batch: StateBatch) async -> BatchResult {
    var result = BatchResult(settled: batch.leftOut.map(\.item), unstored: batch.leftOut)
    guard !batch.changes.isEmpty else { return result }
    await self.makeRoom(for: batch)
    do {
      try await self.write(batch.changes[...])
      result.settled = batch.items
    } catch is StorageEraHasEnded {
      result.leaveOut(batch.changes[...].map { batch.items[$0.index] })
      await self.followEra()
    } catch {
      await self.split(batch, after: error, into: &result)
    }
    await self.trim()
    return result
  }

  /// Splits a refused batch until the values that the storage refuses are alone.
  ///
  /// For *k* of them in a batch of *n*, the storage is called O(*k* · log *n*) times; if it is down, twice.
  private func split(_ batch: StateBatch, after error: any Error, into result: inout BatchResult) async {
    var parts: [(part: Part, failure: (any Error)?)] = []
    var lastFailure = error
    if await self.isWritable(after: error) {
      parts.append((batch.changes[...], error))
    } else {
      result.isStorageDown = true
      result.postponed = batch.changes.map { batch.items[$0.index] }
    }
    var (writtenCount, lackingCount) = (0, 0)
    while let (part, failure) = parts.popLast() {
      guard let failure = await self.failure(of: part, known: failure) else {
        writtenCount += 1
        result.settled += part.map { batch.items[$0.index] }
        continue
      }
      if failure is StorageEraHasEnded {
        result.leaveOut(result.postponed + ([part] + parts.map(\.part)).joined().map { batch.items[$0.index] })
        result.postponed = []
        return await self.followEra()
      }
      lastFailure = failure
      if part.count > 1 {
        let middle = (part.startIndex + part.endIndex) / 2
        // The first part is taken first.
        parts.append((part[middle...], nil))
        parts.append((part[..<middle], nil))
        continue
      }
      let entry = batch.items[part[part.startIndex].index]
      let isDown = !(await self.isWritable(after: failure))
      if !isDown, !entry.item.isTriedAgain(after: failure) {
        result.settled.append(entry)
        result.unstored.append((entry, "the storage refuses it: \(ShownText.whole(failure))"))
        entry.item.content.report(failure)
        continue
      }
      result.postponed.append(entry)
      lackingCount += 1
      if isDown || lackingCount > 4 + writtenCount {
        // Further parts would fail as well.
        result.isStorageDown = true
        result.postponed += parts.reversed().flatMap { $0.part.map { batch.items[$0.index] } }
        parts = []
      }
    }
    guard !result.postponed.isEmpty else { return }
    let action = "write \(result.postponed.count) values. They are written later"
    OperationWarning.report(storageFailedTo: action, lastFailure)
  }

  private typealias Part = ArraySlice<StateBatch.Change>

  private func write(_ part: Part) async throws {
    try await self.make(part.flatMap(\.all))
    self.state.withLock { $0.upkeep.didWrite(part) }
  }

  /// Makes the changes of a part, unless it is known to fail. Returns the error.
  private func failure(of part: Part, known failure: (any Error)?) async -> (any Error)? {
    if let failure { return failure }
    do {
      try await self.write(part)
      return nil
    } catch {
      return error
    }
  }

  /// Whether the storage can be written after it has refused a change, so that the change is the reason.
  private func isWritable(after error: any Error) async -> Bool {
    switch (error as? StorageError)?.code {
    case .closed?, .cannotOpen?, .notADatabase?, .newerSchema?, .busy?, .readOnly?: return false
    default: break
    }
    do {
      try await self.storage.apply([.put(key: StorageKey.probe, value: [1]), .remove(key: StorageKey.probe)])
      return true
    } catch {
      return false
    }
  }
}

extension BatchResult {
  /// Settles values of a former era, which are not written.
  mutating func leaveOut(_ items: [BatchItem]) {
    self.isOfFormerEra = true
    self.settled += items
    self.unstored += items.map { ($0, "another process has removed all values of the storage") }
  }
}

extension StateWriter.Item {
  /// Whether the storage may accept the content later, after it has refused it.
  fileprivate func isTriedAgain(after error: any Error) -> Bool {
    // What is to be removed must not stay.
    self.content.encode == nil || (error as? StorageError)?.code == .full
  }
}

extension StateWriter.Content {
  fileprivate func report(_ error: any Error) {
    OperationWarning(
      code: .valueNotStored,
      severity: .failure,
      message: """
        The storage refuses the value of the operation at \(self.label). It is left out until it changes, and what was \
        stored before stays: \(ShownText.whole(error))
        """
    ).report()
  }
}
