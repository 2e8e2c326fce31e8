extension OperationClient {
  /// Passes on to a level what is invalidated, and removes its values when the client forgets its user.
  ///
  /// The first store of an operation with ``StatefulOperationRequest/kept(in:as:version:maximumAge:encode:decode:)`` does so, too.
  /// Call it at the start of a program, because a level may have values of earlier processes that no store has asked for.
  ///
  /// - Parameter level: The level, which the client keeps.
  public func add(_ level: any ValueLevel) {
    self.attachment { ClientLevels(client: self) }.add(level)
  }

  /// How often the client has forgotten its user: see ``clearEverything(within:switching:)``.
  public var era: ClientEra { self.storage.era }
}

/// The levels of a client: passes on what is invalidated, and removes their values when the client forgets its user.
final class ClientLevels: Sendable {
  private weak let client: OperationClient?
  private let levels = Locked<[ObjectIdentifier: any ValueLevel]>([:])
  /// The levels whose values are being removed.
  private let uncleared = Locked<[any ValueLevel]>([])

  init(client: OperationClient) {
    self.client = client
  }

  private var all: [any ValueLevel] { self.levels.withLock { Array($0.values) } }

  func add(_ level: any ValueLevel) {
    let isNew = self.levels.withLock { $0.updateValue(level, forKey: ObjectIdentifier(level)) == nil }
    // After it was added: an invalidation at the same time is in the log, or is passed on.
    guard isNew, let entries = self.client?.invalidations.entries, !entries.isEmpty else { return }
    level.invalidate(entries.map { Invalidation($0.subject, epoch: $0.epoch) })
  }
}

extension ClientLevels: InvalidationRelay {
  func willInvalidate(
    _ subjects: [InvalidationSubject],
    at epoch: InvalidationEpoch,
    from relay: (any InvalidationRelay)?
  ) {
    let invalidations = subjects.map { Invalidation($0, epoch: epoch) }
    for level in self.all { level.invalidate(invalidations) }
  }
}

extension ClientLevels: OperationClientClearing {
  var remainingUntilCleared: [ClearingError.Remaining] {
    self.uncleared.withLock { $0 }.map { .storage($0.name, CancellationError()) }
  }

  nonisolated(nonsending) func clear() async -> [ClearingError.Remaining] {
    guard let era = self.client?.era else { return [] }
    let levels = self.all
    self.uncleared.withLock { $0 = levels }
    var remaining: [ClearingError.Remaining] = []
    for level in levels {
      do {
        try await level.remove(.everything, era: era)
      } catch {
        remaining.append(.storage(level.name, error))
      }
      self.uncleared.withLock { uncleared, released in
        released.append(uncleared)
        uncleared.removeAll { $0 === level }
      }
    }
    return remaining
  }
}

extension ClientLevels: OperationClientFlushable {
  func flush() async -> Bool {
    var isFlushed = true
    for level in self.all {
      do {
        try await level.flush()
      } catch {
        isFlushed = false
        OperationWarning(
          code: .levelFailed,
          severity: .failure,
          message: "The level \(level.name) has not written everything: \(ShownText.of(error))"
        ).report()
      }
    }
    return isFlushed
  }
}
