import OperationCore
import OperationPersistence
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// The storage of one process, which several processes share.
final class SharedStorage: LeasingStorage {
  private enum State { case alive, suspended, closed }

  let base: InMemoryStorage
  private let state = Mutex(State.alive)
  private let reading = Mutex<Gate?>(nil)
  private let releases = Counter()
  /// Opens with the second lease that is released.
  let secondRelease = Gate()

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  /// Makes the next caller of `entries(withPrefix:)` wait, with what it has read, until the gate is open.
  func holdNextReading() -> Gate {
    let gate = Gate()
    self.reading.withLock { $0 = gate }
    return gate
  }

  func suspend() { self.state.withLock { $0 = .suspended } }
  func resume() { self.state.withLock { $0 = .alive } }

  private var isAlive: Bool {
    get throws {
      let state = self.state.withLock { $0 }
      if state == .closed { throw StorageError.closed("shared") }
      return state == .alive
    }
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    let entries = try await self.base.entries(withPrefix: prefix)
    try await self.reading.withLock { $0.take() }?.wait()
    return entries
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    try self.isAlive ? try await self.base.apply(batch, if: conditions) : .made
  }

  nonisolated(nonsending) func acquireLease(
    _ name: String,
    owner: String,
    for duration: Duration
  ) async throws -> StorageLease {
    guard try self.isAlive else { return .heldByAnother(remaining: .seconds(1)) }
    return try await self.base.acquireLease(name, owner: owner, for: duration)
  }

  nonisolated(nonsending) func releaseLease(_ name: String, owner: String) async throws {
    if self.releases.increment() == 2 { self.secondRelease.open() }
    if try self.isAlive { try await self.base.releaseLease(name, owner: owner) }
  }

  nonisolated(nonsending) func close() async { self.state.withLock { $0 = .closed } }
}
