internal import Foundation
internal import OperationCore
internal import Synchronization

extension Benchmark {
  /// What a round of polls of many stores costs: the time of the processor, and the threads.
  static let polling = Benchmark(name: "polling") { _ in
    let section = "polls of many stores, in one round"
    let rounds = [try await PolledStores(1_000).round(), try await PolledStores(10_000).round()]
    var rows = zip(["1,000", "10,000"], rounds).map { size, round in
      Row(section: section, name: "\(size) stores, each", value: round.microseconds, unit: .microseconds)
    }
    let costs = rounds.map(\.microseconds)
    rows.append(
      Row(
        section: section,
        name: "growth",
        value: (costs.max() ?? .nan) / (costs.min() ?? .nan),
        unit: .times,
        bar: Row.Limit(.atMost, 2),
        gate: Row.Limit(.atMost, 5)
      )
    )
    // Four queues for the actions of deadlines, and the threads that the process has anyway.
    let most = Double(4 + 8 + ProcessInfo.processInfo.activeProcessorCount)
    if let threads = rounds[1].threads {
      rows.append(.number(section, "threads, 10,000 stores", Double(threads), bar: most, gate: 2 * most))
    }
    return rows
  }
}

/// Stores that poll after the same time.
private final class PolledStores: Sendable {
  private let count: Int
  private let polls = Mutex((count: 0, threads: Int?.none))
  private let end = Gate()

  init(_ count: Int) {
    self.count = count
  }

  /// The time of the processor for each poll in microseconds, and the most threads that the process had.
  func round() async throws -> (microseconds: Double, threads: Int?) {
    let stores = (0..<self.count).map { id in
      OperationStore.detached(query: PolledQuery(id: id, stores: self).rerun(every: .seconds(1)))
    }
    let subscriptions = stores.map { $0.subscribe(with: OperationEventHandler()) }
    let before = ProcessorTime.now
    await self.end.wait()
    let after = ProcessorTime.now
    for subscription in subscriptions { subscription.cancel() }
    // Nothing else keeps a store without a client.
    withExtendedLifetime(stores) {}
    return ((after - before) / Double(self.count) * 1e6, self.polls.withLock { $0.threads })
  }

  func note() {
    let count = self.polls.withLock { polls in
      polls.count += 1
      // The first run of each store is that for its subscriber.
      return polls.count - self.count
    }
    guard count > 0 else { return }
    if count.isMultiple(of: 100) {
      let threads = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
      self.polls.withLock { $0.threads = [$0.threads, threads].compactMap(\.self).max() }
    }
    if count == self.count { self.end.open() }
  }
}

private struct PolledQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  let id: Int
  let stores: PolledStores

  var path: OperationPath { ["polled", self.id] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.stores.note()
    return self.id
  }
}

private enum ProcessorTime {
  /// The time of the processor that all threads of the process have used, in seconds.
  static var now: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
