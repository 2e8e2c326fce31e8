internal import Counters
internal import OperationCore

/// A query that suspends once, until another thread has run an empty task.
struct SuspendingQuery: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    await Task.detached {}.value
    return 1
  }
}

extension Harness {
  /// Returns what a modifier adds to a run of ``SuspendingQuery`` outside of a store.
  ///
  /// On several cores, each task that continues may wake a thread of another core, or find it awake. A wake costs as
  /// much as everything else here, and chance decides about it.
  func suspendingDifference(
    _ modify: (SuspendingQuery) -> some QueryRequest<Int, any Error>
  ) async throws -> (onOneCore: Timing, onAllCores: Timing) {
    let (bare, modified) = (Measure.running(SuspendingQuery()), Measure.running(modify(SuspendingQuery())))
    let onOneCore = try await self.onOneCore { try await self.difference(from: bare, to: modified).difference }
    return (onOneCore, try await self.difference(from: bare, to: modified).difference)
  }

  /// Measures with all threads of the process on one core.
  func onOneCore<Measured>(_ body: () async throws -> Measured) async throws -> Measured {
    keep_on_one_core(true)
    defer { keep_on_one_core(false) }
    return try await body()
  }
}
