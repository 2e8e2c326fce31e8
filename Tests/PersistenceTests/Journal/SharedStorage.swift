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
  private let reading = Mutex<(prefix: String, isBegun: Bool, gate: Gate)?>(nil)
  private let answer = Mutex<Gate?>(nil)
  private let failsToRead = Mutex(false)
  private let failsToWrite = Mutex(false)
  private let releases = Counter()
  /// How often entries were read, and batches were to be applied.
  let (reads, batches) = (Counter(), Counter())
  /// Opens with the second lease that is released.
  let secondRelease = Gate()

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  /// Makes the next caller of `entries(withPrefix:)` wait until the gate is open.
  ///
  /// - Parameters:
  ///   - prefix: The beginning of the keys that it reads.
  ///   - isBegun: Whether it has read what it returns then.
  /// - Returns: The gate.
  func holdNextReading(of prefix: String = "", begun isBegun: Bool = true) -> Gate {
    let gate = Gate()
    self.reading.withLock { $0 = (prefix, isBegun, gate) }
    return gate
  }

  private func takeGate(of prefix: String, begun isBegun: Bool) -> Gate? {
    self.reading.withLock { reading in
      guard let held = reading, held.isBegun == isBegun, prefix.hasPrefix(held.prefix) else { return nil }
      reading = nil
      return held.gate
    }
  }

  /// Makes the next batch, once it is applied, wait until the gate is open.
  func holdNextAnswer() -> Gate {
    let gate = Gate()
    self.answer.withLock { $0 = gate }
    return gate
  }

  func failNextReading() { self.failsToRead.withLock { $0 = true } }

  func failToWrite(_ fails: Bool) { self.failsToWrite.withLock { $0 = fails } }

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
    self.reads.increment()
    let fails = self.failsToRead.withLock { fails in
      defer { fails = false }
      return fails
    }
    if fails { throw Broken() }
    try await self.takeGate(of: prefix, begun: false)?.wait()
    let entries = try await self.base.entries(withPrefix: prefix)
    try await self.takeGate(of: prefix, begun: true)?.wait()
    return entries
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    self.batches.increment()
    if self.failsToWrite.withLock({ $0 }) { throw Broken() }
    let outcome: StorageOutcome = try self.isAlive ? try await self.base.apply(batch, if: conditions) : .made
    try await self.answer.withLock { $0.take() }?.wait()
    return outcome
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
