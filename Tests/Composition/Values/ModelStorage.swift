import Operation
import OperationPersistence
import Synchronization
import TestFixtures

/// The storage of a process, which others may use as well. After the process was killed it writes nothing.
///
/// A schedule holds it, so that its callers wait. Some storages read and write then, and answer when they are released;
/// others do all of it then.
final class ProcessStorage: LeasingStorage {
  private struct State {
    var isKilled = false
    var isHeld = false
    var hasToldEra = false
    var waiting: [AwaitedOutcome<Void>] = []
  }

  private let base: InMemoryStorage
  private let answersLate: Bool
  private let state = Mutex(State())

  init(_ base: InMemoryStorage, answersLate: Bool) {
    self.base = base
    self.answersLate = answersLate
  }

  var isKilled: Bool { self.state.withLock { $0.isKilled } }
  var isHeld: Bool { self.state.withLock { $0.isHeld } }

  /// Whether its process knows whether all values were removed. It may not know that before it uses the storage.
  var hasToldEra: Bool { self.state.withLock { $0.hasToldEra } }

  func hold() { self.state.withLock { $0.isHeld = true } }

  func release() { self.end { state in state.isHeld = false } }

  func kill() {
    self.end { state in
      state.isKilled = true
      state.isHeld = false
    }
  }

  private func end(_ change: (inout sending State) -> Void) {
    let waiting = self.state.withLock { state in
      change(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.decide() }
  }

  private nonisolated(nonsending) func pass() async {
    let waiter = self.state.withLock { state -> AwaitedOutcome<Void>? in
      guard state.isHeld else { return nil }
      let waiter = AwaitedOutcome<Void>()
      state.waiting.append(waiter)
      return waiter
    }
    await waiter?.value()
  }

  private nonisolated(nonsending) func perform<R>(
    _ body: nonisolated(nonsending) () async throws -> R
  ) async throws -> R {
    if !self.answersLate { await self.pass() }
    let result = try await body()
    if self.answersLate { await self.pass() }
    return result
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    defer { if prefix == "epoch/" { self.state.withLock { $0.hasToldEra = true } } }
    return try await self.perform { try await self.base.entries(withPrefix: prefix) }
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
    _ = try await self.apply(batch, if: [])
  }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try await self.perform { self.isKilled ? .made : try await self.base.apply(batch, if: conditions) }
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    if self.isKilled { return .heldByAnother(remaining: .seconds(1)) }
    return try await self.base.acquireLease(name, owner: owner, for: duration)
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    if !self.isKilled { try await self.base.releaseLease(name, owner: owner) }
  }

  nonisolated(nonsending) func close() async {}
}
