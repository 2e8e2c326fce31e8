internal import Synchronization

/// Work that goes on after its run has returned without it, until ``end()``.
public struct LeftWork: Sendable {
  /// Nil for work of a run that has no identifier.
  private let entry: Entry?

  fileprivate init(_ entry: Entry?) {
    self.entry = entry
  }

  /// Notes that the work has ended. Call it once, with no lock held: it may begin runs that wait for a permit.
  public func end() {
    self.entry?.end()
  }
}

extension LeftWork {
  /// The work that is left behind, by the runs that it belongs to.
  private static let entries = Mutex<[OperationTaskIdentifier: [Entry]]>([:])
  /// The number of entries. Nearly always zero, so that the end of a run has nothing to look up.
  private static let count = Atomic(0)

  /// Whether any work is left behind in the process, so that
  /// ``OperationContext/afterLeftWork(claimedBy:_:)`` may have to wait. It is cheap, and nearly always false.
  public static var exists: Bool { self.count.load(ordering: .relaxed) > 0 }

  fileprivate static func entry(of run: OperationTaskIdentifier) -> Entry {
    let entry = Entry(run)
    self.entries.withLock { $0[run, default: []].append(entry) }
    self.count.add(1, ordering: .relaxed)
    return entry
  }

  /// Work that is left behind.
  fileprivate final class Entry: Sendable {
    let run: OperationTaskIdentifier
    // Both are unsafe because the compiler does not see that the lock of the entries guards them.
    nonisolated(unsafe) private var claims: Set<ObjectIdentifier> = []
    nonisolated(unsafe) private var claimed: [Countdown] = []

    init(_ run: OperationTaskIdentifier) {
      self.run = run
    }

    func end() {
      let claimed = LeftWork.entries.withLock { entries in
        entries[self.run]?.removeAll { $0 === self }
        if entries[self.run]?.isEmpty == true { entries[self.run] = nil }
        return self.claimed
      }
      LeftWork.count.subtract(1, ordering: .relaxed)
      for countdown in claimed { countdown.step() }
    }

    /// Called with the lock held. False if `claimant` has claimed the work before.
    func add(_ countdown: Countdown, by claimant: ObjectIdentifier) -> Bool {
      guard self.claims.insert(claimant).inserted else { return false }
      self.claimed.append(countdown)
      return true
    }
  }

  /// Performs a closure after some work has ended.
  fileprivate final class Countdown: Sendable {
    private let remaining = Atomic(1)
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }

    func add() {
      self.remaining.add(1, ordering: .relaxed)
    }

    func step() {
      if self.remaining.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { self.body() }
    }
  }

  /// Performs `body` when the work that is left behind by `run` has ended, except for what `claimant` has claimed before.
  fileprivate static func wait(
    for run: OperationTaskIdentifier,
    claimedBy claimant: ObjectIdentifier,
    _ body: @escaping @Sendable () -> Void
  ) {
    let countdown = Countdown(body)
    self.entries.withLock { entries in
      for entry in entries[run] ?? [] where entry.add(countdown, by: claimant) { countdown.add() }
    }
    countdown.step()
  }
}

extension OperationContext {
  /// Notes that work of the run with this context goes on, although the run returns without it.
  ///
  /// Call it where a modifier leaves its operation behind, as a timeout does, before the run returns. What counts work, such as
  /// a limit for the number of runs under way, then waits for the end of it: see ``afterLeftWork(claimedBy:_:)``.
  ///
  /// - Returns: The work, whose ``LeftWork/end()`` has to be called when it has ended. A run that neither a store nor a runner
  ///   makes has no identifier, and is not noted.
  public func leaveWork() -> LeftWork {
    LeftWork(self.operationRunningTaskIdentifier.map { LeftWork.entry(of: $0) })
  }

  /// Performs a closure when the work that modifiers inside of the run have left behind has ended; at once without any.
  ///
  /// - Parameters:
  ///   - claimant: What counts the work, such as a limit. Work that it has claimed before is not waited for: an earlier
  ///     attempt of the run has left it behind.
  ///   - body: Performed once, with no lock held, in this call or where the last work ends.
  public func afterLeftWork(claimedBy claimant: ObjectIdentifier, _ body: @escaping @Sendable () -> Void) {
    guard let run = self.operationRunningTaskIdentifier else { return body() }
    LeftWork.wait(for: run, claimedBy: claimant, body)
  }
}
