internal import Foundation
internal import OperationCore
internal import OperationDedupe
internal import Synchronization

extension Benchmark {
  /// The work of each of two threads on the same object, as a share of the work of one thread alone.
  static let contention = Benchmark(name: "contention") { harness in
    // Not checked by the short form: the result means nothing if other work takes a core.
    guard !harness.isShort, ProcessInfo.processInfo.activeProcessorCount > 1 else { return [] }
    let client = OperationClient.plain()
    let store = OperationStore.detached(query: PostQuery(id: 1))
    let deduplicated = OperationStore.detached(query: PostQuery(id: 1).deduplicated())
    let section = "two threads on one object, each as a share of one alone"
    let machine = try await harness.shareUnderContention(of: .baseline)
    // If each does not have a core of its own, the threads do not wait for the object but for a core.
    let isQuiet = machine.lowerQuartile >= 0.85 && machine.upperQuartile <= 1.15
    let name = "an async no-op: what the machine gives"
    var rows = [
      Row(
        section: section,
        name: isQuiet ? name : "\(name), too unsteady to judge the others",
        value: machine.median,
        unit: .times,
        spread: machine
      )
    ]
    let pairs: [(name: String, measure: Measure)] = [
      ("client.store(for:), there", .calling { keep(client.store(for: PostQuery(id: 1))) }),
      ("store.currentValue = 1", .calling { store.currentValue = 1 }),
      ("store.fetch()", .awaiting { _ = try? await store.fetch() }),
      ("store.fetch(), deduplicated", .awaiting { _ = try? await deduplicated.fetch() }),
    ]
    // The share of any value that two threads change under one lock, which the others have to reach.
    let count = Mutex(0)
    let bare = try await harness.shareUnderContention(of: .calling { count.withLock { $0 += 1 } })
    let bar = isQuiet ? Row.Limit(.atLeast, bare.median) : nil
    rows.append(
      Row(section: section, name: "a bare Mutex around a counter", value: bare.median, unit: .times, spread: bare)
    )
    for pair in pairs {
      let share = try await harness.shareUnderContention(of: pair.measure)
      rows.append(
        Row(section: section, name: pair.name, value: share.median, unit: .times, spread: share, bar: bar)
      )
    }
    return rows
  }
}

extension Harness {
  /// Returns the throughput of the slower of two tasks that do the same at once, as a share of that of one alone.
  fileprivate func shareUnderContention(of measure: Measure) async throws -> Distribution {
    // Long chunks, so that a small difference of the starts and ends does not matter.
    let count = try await self.count(of: measure, for: .milliseconds(10))
    var shares: [Double] = []
    for _ in 0..<21 {
      let before = try await self.nanoseconds(of: measure, count: count)
      let line = StartingLine(runners: 2)
      async let one = Task.detached {
        line.wait()
        return try await self.nanoseconds(of: measure, count: count)
      }.value
      async let other = Task.detached {
        line.wait()
        return try await self.nanoseconds(of: measure, count: count)
      }.value
      let slower = try await max(one, other)
      let after = try await self.nanoseconds(of: measure, count: count)
      shares.append((before + after) / 2 / slower)
    }
    return Distribution(of: shares)
  }
}

/// Lets threads start at the same moment.
private final class StartingLine: Sendable {
  private let missing: Atomic<Int>

  init(runners: Int) {
    self.missing = Atomic(runners)
  }

  /// Spins until all threads are here, because a thread that sleeps would start late. Gives up after a while.
  func wait() {
    let end = ContinuousClock.now + .seconds(1)
    self.missing.subtract(1, ordering: .acquiringAndReleasing)
    while self.missing.load(ordering: .acquiring) > 0, ContinuousClock.now < end {}
  }
}
