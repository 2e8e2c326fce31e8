import OperationCore
import OperationPersistence
import OperationTesting
import TestFixtures

/// A storage whose disk can be full, and whose process can be killed.
final class PhoneStorage: PersistentStorage {
  /// What there is room for. Without any, removing fails as well, as in a file with a log.
  enum Room: Sendable {
    case everything
    case removals
    case nothing
  }

  private struct State: Sendable {
    var room = Room.everything
    var isDead = false
    var seen: Set<String> = []
  }

  private let base: InMemoryStorage
  private let state = Locked(State())

  init(_ base: InMemoryStorage) {
    self.base = base
  }

  /// What was refused.
  var seen: Set<String> { self.state.withLock { $0.seen } }

  func setRoom(_ room: Room) { self.state.withLock { $0.room = room } }

  func kill() async -> [StorageEntry] {
    self.state.withLock { $0.isDead = true }
    return (try? await self.base.entries(withPrefix: "")) ?? []
  }

  nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
    try await self.base.entries(withPrefix: prefix)
  }

  nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws { _ = try await self.apply(batch, if: []) }

  nonisolated(nonsending) func apply(
    _ batch: [StorageChange],
    if conditions: [StorageCondition]
  ) async throws -> StorageOutcome {
    let puts = batch.contains { if case .put = $0 { true } else { false } }
    let (isRefused, isDead) = self.state.withLock { state in
      let isRefused = state.room == .nothing || (state.room == .removals && puts)
      if isRefused { state.seen.insert(puts ? "no room to store" : "no room to remove") }
      return (isRefused, state.isDead)
    }
    // What a dead process does is not seen.
    if isDead { return .made }
    if isRefused { throw StorageError(code: .full, message: "The disk is full.") }
    return try await self.base.apply(batch, if: conditions)
  }

  nonisolated(nonsending) func close() async { await self.base.close() }
}
