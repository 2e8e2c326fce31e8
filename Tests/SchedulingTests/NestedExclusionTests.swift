import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

@Suite(.bounded, .warningsAreIssues)
struct NestedExclusionTests {
  private let log = Log<String>()
  private let names = Names()

  private func work(_ name: String) -> AnyWork {
    Work(name) { [log] _ in log.append(name) }
  }

  @Test func `A run inside of a holder is part of it`() async throws {
    let inner = self.work("inner").mutuallyExclusive(self.names("x"))
    let middle = Work<Void, any Error> { _ in try await inner.runOnce() }.mutuallyExclusive(
      self.names("y"),
      self.names("x")
    )
    let outer = Work<Void, any Error> { _ in
      try await middle.runOnce()
      try await inner.runOnce()
    }.mutuallyExclusive(self.names("x"))
    try await outer.runOnce()
    expect(self.log.all, equals: ["inner", "inner"])
  }

  @Test func `Runs inside of one holder run one at a time`() async throws {
    let counter = InsideCounter()
    let inner = Work<Void, any Error> { _ in
      counter.enter()
      await elsewhere()
      counter.leave()
    }.mutuallyExclusive(self.names("x"))
    let outer = Work<Void, any Error> { _ in
      await withTaskGroup { group in
        for _ in 0..<50 { group.addTask { try? await inner.runOnce() } }
      }
    }.mutuallyExclusive(self.names("x"))
    try await outer.runOnce()
    expect(counter.entered, equals: 50)
    expect(counter.most, equals: 1)
  }

  @Test func `A run inside of a holder goes before those that wait for the holder`() async throws {
    let gate = Gate()
    let inner = self.work("inner").mutuallyExclusive(self.names("x"), self.names("y"))
    let outer = Work<Void, any Error> { _ in
      try await gate.wait()
      try await inner.runOnce()
    }.mutuallyExclusive(self.names("x"))
    let holder = outer.begin()
    try await gate.arrivals(count: 1)
    // It waits for the holder, and came before the inner run in the other category.
    let waiter = self.work("waiter").mutuallyExclusive(self.names("y"), self.names("x")).begin()
    gate.open()
    try await holder.value
    try await waiter.value
    expect(self.log.all, equals: ["inner", "waiter"])
  }

  @Test func `A run inside of a holder waits for earlier ones that need nothing of the holder`()
    async throws
  {
    let gates = [Gate(), Gate()]
    let inner = self.work("inner").mutuallyExclusive(self.names("y"))
    let holder = Work<Void, any Error> { _ in
      try await gates[0].wait()
      try await inner.runOnce()
    }.mutuallyExclusive(self.names("x")).begin()
    try await gates[0].arrivals(count: 1)
    let other = Work<Void, any Error> { _ in try await gates[1].wait() }.mutuallyExclusive(self.names("y")).begin()
    let waiter = self.work("waiter").mutuallyExclusive(self.names("y")).begin()
    gates[0].open()
    gates[1].open()
    for run in [holder, other, waiter] { try await run.value }
    expect(self.log.all, equals: ["waiter", "inner"])
  }

  @Test func `Holders that need what the other has are reported, and one of them fails`() async throws {
    let recorder = WarningRecorder()
    let gates = [Gate(), Gate()]
    await recorder.recording {
      let runs = [("a", "b", 0), ("b", "a", 1)].map { first, second, number in
        let inner = Work<Void, any Error>("inner") { _ in }.mutuallyExclusive(self.names(second))
        return Work<Void, any Error> { _ in
          gates[number].open()
          try await gates[1 - number].wait()
          try await inner.runOnce()
        }.mutuallyExclusive(self.names(first)).begin()
      }
      var failures = 0
      for run in runs {
        do {
          try await run.value
        } catch {
          #expect(error is OperationCycleError)
          failures += 1
        }
      }
      expect(failures, equals: 1)
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `A run in a cycle whose failure cannot represent it continues`() async throws {
    let recorder = WarningRecorder()
    let gates = [Gate(), Gate()]
    try await recorder.recording {
      let runs = [("a", "b", 0), ("b", "a", 1)].map { first, second, number in
        let inner = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in number }.mutuallyExclusive(self.names(second))
        return Work<Int, any Error> { _ in
          gates[number].open()
          try await gates[1 - number].wait()
          return try await inner.runOnce()
        }.mutuallyExclusive(self.names(first)).begin()
      }
      let values = [try await runs[0].value, try await runs[1].value]
      expect(values, equals: [0, 1])
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test func `A run inside of a holder does not join a run that waits for the holder`() async throws {
    let gate = Gate()
    let script = Script(default: .value(3))
    let store = OperationStore.detached(query: script.query().mutuallyExclusive(self.names("x")), initialValue: 0)
    let holder = Work<Int, any Error> { _ in
      try await gate.wait()
      return try await store.fetch()
    }.mutuallyExclusive(self.names("x")).begin()
    try await gate.arrivals(count: 1)
    let waiter = Task.immediate { try await store.fetch() }
    expect(script.runCount, equals: 0)
    gate.open()
    try await expect(holder.value, equals: 3)
    try await expect(waiter.value, equals: 3)
    expect(script.runCount, equals: 2)
  }

  @Test func `A run that outlives the run around it waits like any other`() async throws {
    let gate = Gate()
    let left = Log<Task<Void, any Error>>()
    let inner = self.work("left").mutuallyExclusive(self.names("x"))
    let outer = Work<Void, any Error> { _ in
      left.append(
        Task {
          try await gate.wait()
          try await inner.runOnce()
        }
      )
    }.mutuallyExclusive(self.names("x"))
    try await outer.runOnce()
    let script = Script()
    let holder = script.operation().mutuallyExclusive(self.names("x")).begin()
    let run = try await script.next()
    gate.open()
    let waiter = self.work("waiter").mutuallyExclusive(self.names("x")).begin()
    #expect(self.log.all.isEmpty)
    run.succeed(1)
    _ = try await holder.value
    try await waiter.value
    try await left.all[0].value
    expect(Set(self.log.all), equals: ["left", "waiter"])
  }

  @Test func `Nested runs of random categories never overlap, and all of them end`() async throws {
    let counters = (0..<4).map { _ in InsideCounter() }
    let recorder = WarningRecorder()
    await recorder.recording {
      await withTaskGroup { group in
        for number in 0..<400 {
          group.addTask {
            var random = SeededGenerator(seed: UInt64(number))
            let run = NestedWork(depth: 3, counters: counters, random: random.split()).begin()
            if number.isMultiple(of: 3) { run.cancel() }
            _ = try? await run.value
          }
        }
      }
    }
    #expect(recorder.warnings.allSatisfy { $0.code == .taskCycle })
    for counter in counters { #expect(counter.most <= 1) }
  }
}

/// A run that takes categories at random, and runs others inside of it.
private struct NestedWork: OperationRequest, Sendable {
  let depth: Int
  let counters: [InsideCounter]
  var random: SeededGenerator
  /// The categories of the runs around this one.
  var held: Set<Int> = []

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {
    var random = self.random
    let categories = Set((0..<Int.random(in: 1...2, using: &random)).map { _ in Int.random(in: 0..<4, using: &random) })
    let seeds = (0..<2).map { _ in random.split() }
    try await Work<Void, any Error>("nested") { _ in
      let new = categories.subtracting(self.held)
      for category in new { self.counters[category].enter() }
      defer { for category in new { self.counters[category].leave() } }
      await elsewhere()
      guard self.depth > 1 else { return }
      for seed in seeds {
        let held = self.held.union(categories)
        try await NestedWork(depth: self.depth - 1, counters: self.counters, random: seed, held: held).runOnce()
      }
    }.prepared { $0.add(categories.map { OperationCategory("nested \($0)") }) }.runOnce()
  }
}

extension SeededGenerator {
  /// A generator of other numbers, for a task of its own.
  fileprivate mutating func split() -> SeededGenerator { SeededGenerator(seed: self.next()) }
}
