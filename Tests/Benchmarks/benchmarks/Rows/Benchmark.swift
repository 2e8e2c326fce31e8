/// A part of the report that can be run by itself.
struct Benchmark: Sendable {
  let name: String
  let run: @Sendable (Harness) async throws -> [Row]

  /// All parts, in the order of the report.
  static let all = [
    orientation, fetching, firstUse, stores, matching, tags, tagMemory, freshness, subscribing, events, observing,
    callers, calls, paging, reading, derivation, timeouts, hedges, admission, batching, manyKeys, scheduling,
    manyOperations, polling, persistence, restoringIntoUse, durableWrites, storedCalls, contention, memory,
    droppedStores, leftovers,
  ]
}
