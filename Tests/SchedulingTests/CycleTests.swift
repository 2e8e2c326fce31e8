import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

/// Cycles through every kind of wait. Each of these tests lasts until its time limit if the cycle is not found.
@Suite(.bounded, .warningsAreIssues)
struct CycleTests {
  private let names = Names()
  private let gate = Gate()
  private let operations = Log<ScheduledOperation<Void>>()

  /// Runs `body`, and returns the messages of the cycles that were reported.
  private func cycles(_ body: () async throws -> Void) async throws -> [String] {
    let recorder = WarningRecorder()
    try await recorder.recording { try await body() }
    #expect(recorder.warnings.allSatisfy { $0.code == .taskCycle })
    return recorder.warnings.map(\.message)
  }

  /// An operation with a name, which begins when the gate is open.
  private func gated(
    _ name: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) -> ClosureOperation<Void> {
    ClosureOperation(name) { [gate] _ in
      try await gate.wait()
      try await body()
    }
  }

  // MARK: - Child tasks

  @Test(arguments: [true, false])
  func `A child task that waits for what waits for its operation is reported`(isGroup: Bool) async throws {
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler()
      let parent = scheduler.schedule(
        self.gated("A") { [operations] in
          let other = operations.all[0]
          if isGroup {
            try await withThrowingTaskGroup { group in
              group.addTask { try await other.value }
              try await group.waitForAll()
            }
          } else {
            async let value: Void = other.value
            try await value
          }
        }
      )
      self.operations.append(scheduler.schedule(named: "B") { _ in try await parent.value })
      self.gate.open()
      await #expect(throws: OperationCycleError.self) { try await parent.value }
    }
    expect(cycles.count, equals: 1)
    #expect(
      [
        "A waits for the value of B, which waits for the value of A.",
        "B waits for the value of A, which waits for the value of B.",
      ]
      .contains { cycles[0].hasPrefix($0) }
    )
  }

  @Test func `A child task that waits for an operation that depends on its parent is reported with names`() async throws
  {
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler()
      let parent = scheduler.schedule(
        self.gated("A") { [operations] in
          async let value: Void = operations.all[0].value
          try await value
        }
      )
      let dependent = ClosureOperation<Void>("B") { _ in }
      self.operations.append(scheduler.schedule(dependent) { $0.addDependency(parent) })
      self.gate.open()
      let error = await #expect(throws: OperationCycleError.self) { try await parent.value }
      expect(error?.operationNames, equals: ["B", "A", "B"])
      try await self.operations.all[0].value
    }
    expect(cycles.map { $0.hasPrefix("A waits for the value of B, which waits for A.") }, equals: [true])
  }

  @Test func `A task that an operation has started and does not wait for is no part of it`() async throws {
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler()
      let started = Log<Task<Void, any Error>>()
      let parent = scheduler.schedule(
        self.gated("A") { [operations] in
          started.append(Task { try await operations.all[0].value })
        }
      )
      self.operations.append(scheduler.schedule(ClosureOperation("B") { _ in }) { $0.addDependency(parent) })
      self.gate.open()
      try await parent.value
      try await started.all[0].value
    }
    #expect(cycles.isEmpty)
  }

  // MARK: - Empty schedulers

  @Test func `An operation whose child task waits until its scheduler is empty is reported`() async throws {
    let scheduler = OperationScheduler(name: "S")
    let cycles = try await self.cycles {
      try await scheduler.schedule(named: "A") { _ in
        async let empty: Void = scheduler.waitUntilEmpty()
        await empty
      }.value
    }
    expect(cycles.map { $0.hasPrefix("A waits until S is empty, which has A.") }, equals: [true])
  }

  @Test func `Two schedulers that wait for each other are reported`() async throws {
    let cycles = try await self.cycles {
      let schedulers = [OperationScheduler(name: "S"), OperationScheduler(name: "T")]
      let first = schedulers[0].schedule(self.gated("A") { await schedulers[1].waitUntilEmpty() })
      let second = schedulers[1].schedule(self.gated("B") { await schedulers[0].waitUntilEmpty() })
      self.gate.open()
      try await first.value
      try await second.value
    }
    expect(cycles.count, equals: 1)
  }

  @Test func `A wait inside of a held category for a scheduler that needs it is reported`() async throws {
    let category = self.names("C")
    let scheduler = OperationScheduler(name: "S")
    let cycles = try await self.cycles {
      let needing = self.gated("B") {}.mutuallyExclusive(category)
      let holder = ClosureOperation<Void>("A") { [gate, operations] _ in
        operations.append(scheduler.schedule(needing))
        gate.open()
        await scheduler.waitUntilEmpty()
      }.mutuallyExclusive(category)
      try await OperationScheduler().schedule(holder).value
      _ = try? await self.operations.all[0].value
    }
    expect(cycles.count, equals: 1)
  }

  @Test func `An operation that is added to a scheduler, and waits for what waits for that, is reported`() async throws
  {
    let scheduler = OperationScheduler(name: "S")
    let cycles = try await self.cycles {
      let begun = Gate()
      let held = scheduler.schedule(named: "held") { [gate] _ in try await gate.wait() }
      try await self.gate.arrivals(count: 1)
      let recorder = Log<ScheduledOperation<Void>>()
      let other = OperationScheduler(maximumConcurrentOperations: 1)
      let waiting = other.schedule(named: "A") { _ in
        begun.open()
        await scheduler.waitUntilEmpty()
      }
      try await begun.wait()
      // It begins when the operation has lent its place, and so waits.
      try await other.schedule(named: "after") { _ in }.value
      recorder.append(scheduler.schedule(ClosureOperation("B") { _ in }) { $0.addDependency(waiting) })
      await #expect(throws: OperationCycleError.self) { try await recorder.all[0].value }
      self.gate.open()
      try await waiting.value
      try await held.value
    }
    expect(cycles.map { $0.hasPrefix("B waits for A, which waits until S is empty, which has B.") }, equals: [true])
  }

  // MARK: - Unique work

  @Test(arguments: [true, false])
  func `Unique work that schedules its own identifier and awaits it is reported`(isScheduled: Bool) async throws {
    let id = "own identifier, scheduled: \(isScheduled)"
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler()
      let inner = ClosureOperation<Void>("B") { _ in }.unique(id, policy: .append)
      let outer = ClosureOperation<Void>("A") { _ in
        async let value: Void = scheduler.schedule(inner).value
        try await value
      }.unique(id, policy: .append)
      await #expect(throws: OperationCycleError.self) {
        if isScheduled { try await scheduler.schedule(outer).value } else { try await outer.runOnce() }
      }
      await scheduler.waitUntilEmpty()
    }
    expect(cycles.count, equals: 1)
    let text = "A waits for the value of B, which waits for the unique work \(id), which A does before it."
    #expect(cycles[0].hasPrefix(text))
  }

  @Test(arguments: [true, false], [true, false])
  func `Identifiers in two orders are reported`(isFirstScheduled: Bool, isSecondScheduled: Bool) async throws {
    let cycles = try await self.cycles {
      let gates = [Gate(), Gate()]
      let scheduler = OperationScheduler()
      let outcomes = await withTaskGroup { group in
        for (number, ids) in [("a", "b"), ("b", "a")].enumerated() {
          let inner = ClosureOperation<Void>("inner \(number)") { _ in }.unique(self.names(ids.1), policy: .append)
          let outer = ClosureOperation<Void>("outer \(number)") { _ in
            gates[number].open()
            try await gates[1 - number].wait()
            try await inner.runOnce()
          }.unique(self.names(ids.0), policy: .append)
          let isScheduled = number == 0 ? isFirstScheduled : isSecondScheduled
          group.addTask {
            do {
              if isScheduled { try await scheduler.schedule(outer).value } else { try await outer.runOnce() }
              return true
            } catch {
              #expect(error is OperationCycleError)
              return false
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      expect(outcomes.count(where: { !$0 }), equals: 1)
    }
    expect(cycles.count, equals: 1)
  }

  @Test(arguments: [true, false])
  func `An identifier and a category in two orders are reported`(isScheduled: Bool) async throws {
    let (id, category) = (self.names("id"), self.names("category"))
    let cycles = try await self.cycles {
      let gates = [Gate(), Gate()]
      let needsCategory = ClosureOperation<Void>("needs category") { _ in }.mutuallyExclusive(category)
      let needsID = ClosureOperation<Void>("needs id") { _ in }.unique(id, policy: .append)
      let unique = ClosureOperation<Void>("A") { _ in
        gates[0].open()
        try await gates[1].wait()
        try await needsCategory.runOnce()
      }.unique(id, policy: .append)
      let exclusive = ClosureOperation<Void>("B") { _ in
        gates[1].open()
        try await gates[0].wait()
        try await needsID.runOnce()
      }.mutuallyExclusive(category)
      let scheduler = OperationScheduler()
      async let first = Result { try await isScheduled ? scheduler.schedule(unique).value : unique.runOnce() }
      async let second = Result { try await isScheduled ? scheduler.schedule(exclusive).value : exclusive.runOnce() }
      let errors = [await first, await second].compactMap(\.failure)
      expect(errors.count, equals: 1)
      #expect(errors.allSatisfy { $0 is OperationCycleError })
    }
    expect(cycles.count, equals: 1)
  }

  // MARK: - Dependencies and groups

  @Test func `A dependency that is added after the wait has begun is reported`() async throws {
    let cycles = try await self.cycles {
      let schedulers = [OperationScheduler(maximumConcurrentOperations: 1), OperationScheduler()]
      schedulers[1].suspend()
      let begun = Gate()
      let second = schedulers[1].schedule(ClosureOperation<Void>("B") { _ in })
      let first = schedulers[0].schedule(named: "A") { _ in
        async let value: Void = second.value
        begun.open()
        try await value
      }
      try await begun.wait()
      // It begins when the child task has lent the place, and so waits.
      try await schedulers[0].schedule(named: "after") { _ in }.value
      second.addDependency(first)
      await #expect(throws: OperationCycleError.self) { try await second.value }
      schedulers[1].resume()
      await #expect(throws: OperationCycleError.self) { try await first.value }
    }
    expect(cycles.map { $0.hasPrefix("B waits for A, which waits for the value of B.") }, equals: [true])
  }

  @Test func `Groups that are scheduled in each other are reported`() async throws {
    let groups = [OperationGroup("G"), OperationGroup("H"), OperationGroup("I")]
    let cycles = try await self.cycles {
      let operations = groups.indices.map { groups[$0].schedule(groups[($0 + 1) % 3]) }
      await #expect(throws: OperationCycleError.self) { try await operations[2].value }
      for operation in operations[..<2] { await #expect(throws: (any Error).self) { try await operation.value } }
    }
    expect(cycles.count, equals: 1)
    let own = OperationGroup("own")
    let ownCycles = try await self.cycles {
      let operation = own.schedule(own)
      await #expect(throws: OperationCycleError.self) { try await operation.value }
    }
    expect(ownCycles.count, equals: 1)
  }

  @Test func `An operation of a group that runs inside of an operation, and depends on that, is reported`() async throws
  {
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler()
      let outer = scheduler.schedule(
        self.gated("A") { [operations] in
          let outer = operations.all[0]
          let group = OperationGroup("G")
          let child = group.schedule(ClosureOperation<Void>("child") { _ in })
          child.addDependency(outer)
          try await group.runOnce()
        }
      )
      self.operations.append(outer)
      self.gate.open()
      await #expect(throws: OperationCycleError.self) { try await outer.value }
    }
    expect(cycles.count, equals: 1)
  }

  // MARK: - No cycles

  @Test func `A parent that waits in a child task for one that takes its category is not reported`() async throws {
    let category = self.names("C")
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler()
      let inner = ClosureOperation<Int>("B") { _ in 1 }.mutuallyExclusive(category)
      let parent = ClosureOperation<Int>("A") { _ in
        let operation = scheduler.schedule(inner)
        async let first = operation.value
        async let second = inner.runOnce()
        return try await first + second
      }.mutuallyExclusive(category)
      let values = [try await scheduler.schedule(parent).value, try await parent.runOnce()]
      expect(values, equals: [2, 2])
    }
    #expect(cycles.isEmpty)
  }

  @Test func `A wait that was cancelled is no part of a cycle`() async throws {
    let cycles = try await self.cycles {
      let scheduler = OperationScheduler(maximumConcurrentOperations: 1)
      let other = OperationScheduler()
      other.suspend()
      let dependency = other.schedule(ClosureOperation<Void>("B") { _ in })
      let first = scheduler.schedule(named: "A") { [gate] _ in
        await withTaskGroup { group in
          group.addTask { _ = try? await dependency.value }
          // It goes on when the child task waits, as that lends the place.
          _ = try? await scheduler.schedule(named: "after") { _ in }.value
          group.cancelAll()
        }
        try await gate.wait()
      }
      try await self.gate.arrivals(count: 1)
      dependency.addDependency(first)
      self.gate.open()
      other.resume()
      try await dependency.value
    }
    #expect(cycles.isEmpty)
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }

  fileprivate var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
