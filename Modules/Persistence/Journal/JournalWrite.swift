internal import OperationCore

/// The result of a change that is being stored.
final class JournalWrite: Sendable {
  /// The wait ends when this change of the entry, by its number, and all earlier changes of the entry are stored.
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
