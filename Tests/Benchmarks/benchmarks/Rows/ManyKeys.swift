internal import OperationBatching
internal import OperationCircuitBreaker
internal import OperationCore
internal import OperationLimits

extension Benchmark {
  /// What one more key costs beside many: a breaker, a partition, a batch that waits.
  static let manyKeys = Benchmark(name: "many keys") { harness in
    let section = "one key among many"
    // Most of the growth is that of the caches of the processor, which have no place for a hundred thousand objects.
    let many = Sizes([1_000, 100_000], bar: 3, gate: 8)
    let fewer = Sizes([100, 10_000], bar: 2, gate: 5)
    // A logarithm: of a hundred that become fewer with each permit, and of nearly ten thousand.
    let waiting = Sizes([100, 10_000], bar: 3, gate: 6)
    let programs: [(name: String, sizes: Sizes, measure: @Sendable (Int) -> Measure)] = [
      ("a new key in a full group of breakers", many, { .newBreaker(among: $0) }),
      ("a permit for a new partition, and its return", many, { .newPartition(beside: $0) }),
      ("a permit that goes on to the next partition", waiting, { .nextPartition(among: $0) }),
      ("a batch that waits for others and is left", fewer, { .leftBatch(behind: $0) }),
    ]
    var rows: [Row] = []
    for (name, sizes, measure) in programs {
      let timings = try await harness.times(of: sizes.numbers.map(measure))
      rows += zip(sizes.numbers, timings).map { Row(section, "\(name), \($0.grouped)", $1) }
      rows.append(.growth(section, "\(name), growth", of: timings, bar: sizes.bar, gate: sizes.gate))
    }
    return rows
  }
}

/// The numbers of keys that a row is measured with, and the limits of its growth.
private struct Sizes: Sendable {
  let numbers: [Int]
  let bar: Double
  let gate: Double

  init(_ numbers: [Int], bar: Double, gate: Double) {
    self.numbers = numbers
    self.bar = bar
    self.gate = gate
  }
}

extension OperationContext {
  /// The partition of a run.
  fileprivate var partition: String {
    get { self[PartitionKey.self] }
    set { self[PartitionKey.self] = newValue }
  }

  private enum PartitionKey: Key {
    static let defaultValue = "new"
  }

  fileprivate static func partition(_ number: Int) -> OperationContext {
    var context = OperationContext()
    context.partition = "\(number)"
    return context
  }
}

extension Measure {
  /// A key that the group has not seen, and for which it forgets another one.
  fileprivate static func newBreaker(among count: Int) -> Measure {
    let breakers = CircuitBreakers(maximum: count)
    for key in 0..<count { keep(breakers.breaker(for: "\(key)")) }
    return .calling(roundOf: .max) { keep(breakers.breaker(for: "new \($0)")) }
  }

  /// A partition that is made for its only run, beside partitions with a run each.
  fileprivate static func newPartition(beside count: Int) -> Measure {
    let limit = PartitionedLimit(count + 1) { $0.partition }
    for number in 0..<count { keep(limit.takePermit(in: .partition(number)) != nil) }
    let context = OperationContext()
    return .calling {
      guard let permit = limit.takePermit(in: context) else { fatalError("no permit is free") }
      limit.returnPermit(permit, after: .succeeded, in: context)
    }
  }

  /// The only permit, which goes from one partition to the next while a run waits in each.
  fileprivate static func nextPartition(among count: Int) -> Measure {
    .prepared(count: 100) { _ in
      let limit = PartitionedLimit(1, queue: count) { $0.partition }
      guard let permit = limit.takePermit(in: OperationContext()) else { fatalError("no permit is free") }
      let waiting = (0..<count).map { number in
        Task.immediate { try await limit.waitForPermit(in: .partition(number), maximumWait: nil) }
      }
      return (limit: limit, permit: permit, waiting: waiting)
    } timed: { made, count in
      for number in 0..<count {
        made.limit.returnPermit(made.permit, after: .succeeded, in: OperationContext())
        made.permit = try await made.waiting[number].value
      }
    } finish: { made in
      for task in made.waiting { task.cancel() }
      for task in made.waiting { _ = await task.result }
    }
  }

  /// A caller whose batch waits behind others until fewer are under way, and who leaves it.
  fileprivate static func leftBatch(behind count: Int) -> Measure {
    .prepared(count: 1_000) { _ in
      let gate = Gate()
      let batcher = OperationBatcher<Int, Int>(maximumSize: 1, maximumConcurrentBatches: 1) { _, _ in
        await gate.wait()
        return [:]
      }
      let waiting = (0...count).map { key in Task.immediate { try await batcher.load(key) } }
      return (gate: gate, batcher: batcher, waiting: waiting)
    } timed: { made, count in
      let batcher = made.batcher
      for key in 0..<count {
        let task = Task.immediate { try await batcher.load(-1 - key) }
        task.cancel()
        _ = await task.result
      }
    } finish: { made in
      for task in made.waiting { task.cancel() }
      made.gate.open()
      for task in made.waiting { _ = await task.result }
    }
  }
}
