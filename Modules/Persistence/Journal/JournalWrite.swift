internal import OperationCore

/// The result of a change that is being stored.
final class JournalWrite: Sendable {
  /// The change of the entry with this number, and all before it, are stored together.
  let version: Int
  private let result = AwaitedOutcome<Result<Void, any Error>>()

  init(version: Int) {
    self.version = version
  }

  func finish(_ result: Result<Void, any Error>) {
    self.result.decide(result)
  }

  /// Waits until the change is stored, also in a cancelled task.
  nonisolated(nonsending) func value() async throws {
    try await self.result.value().get()
  }
}
