import OperationCore
import OperationPausing
import OperationScheduling
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Random schedules with everything switched on, against a model of what may run.
@Suite(.bounded, .warningsAreIssues)
struct SchedulerModelTests {
  private final class Model: Sendable {
    struct State {
      var operations: [ScheduledOperation<Void>] = []
      var isBarrier: [Bool] = []
      var isVital: [Bool] = []
      var dependencies: [Set<Int>] = []
      var running = 0
      var widest = 1
      /// While suspended: the operations that have begun.
      var begun: Set<Int>?
      var violations: [String] = []
    }

    let state = Mutex(State())

    func enter(_ number: Int) {
      self.state.withLock { state in
        state.running += 1
        if state.running > state.widest { state.violations.append("\(state.running) of \(state.widest) run") }
        if state.begun?.contains(number) == false { state.violations.append("\(number) began while suspended") }
        for other in 0..<number where !state.operations[other].isFinished {
          if state.isBarrier[number] || state.isVital[other] || state.dependencies[number].contains(other) {
            state.violations.append("\(number) began before the end of \(other)")
          }
        }
      }
    }

    func leave() {
      self.state.withLock { $0.running -= 1 }
    }
  }

  @Test(arguments: 1...UInt64(ModelRuns.isThorough ? 12 : 4))
  func `Nothing runs too early or beside too many, and all end`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let model = Model()
    let door = Door(isOpen: true)
    let scheduler = OperationScheduler(maximumConcurrentOperations: 4)
    let group = OperationGroup("group")
    let groupEnds = Mutex(0)
    let groupGate = Gate()
    // Before the group is scheduled, which ends when it is empty.
    group.schedule(named: "keeps the group") { _ in try await groupGate.wait() }
    let groupRun = OperationScheduler().schedule(group)
    model.state.withLock { $0.widest = 4 }
    let count = 250
    for number in 0..<count {
      let kind = Int.random(in: 0..<20, using: &random)
      let dependencies = Set(
        (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
          number > 0 ? Int.random(in: max(0, number - 15)..<number, using: &random) : nil
        }
      )
      let work = AnyWork("\(number)") { _ in
        model.enter(number)
        await elsewhere()
        model.leave()
      }.waits(until: door)
      let configure = { (operation: ScheduledOperation<Void>) in
        let others = model.state.withLock { state in
          state.operations.append(operation)
          state.isBarrier.append(kind == 0)
          state.isVital.append(kind <= 2)
          state.dependencies.append(dependencies)
          return dependencies.map { state.operations[$0] }
        }
        for other in others { operation.addDependency(other) }
      }
      let priority = [TaskPriority.low, .medium, .high, nil].randomElement(using: &random) ?? nil
      if kind == 0 {
        scheduler.scheduleBarrier(work, priority: priority, configure: configure)
      } else {
        scheduler.schedule(work, vital: kind <= 2, priority: priority, configure: configure)
      }
      group.schedule(named: "child") { _ in groupEnds.withLock { $0 += 1 } }
      await self.change(model, scheduler, group, door, number, &random)
    }
    self.resume(model, scheduler)
    door.set(true)
    group.resume()
    groupGate.open()
    await scheduler.waitUntilEmpty()
    try await groupRun.value
    let state = model.state.withLock { $0.violations }
    #expect(state.isEmpty, "\(state.prefix(5))")
    expect(model.state.withLock { $0.running }, equals: 0)
    expect(groupEnds.withLock { $0 }, equals: count)
    #expect(scheduler.operations.isEmpty && group.operations.isEmpty)
  }

  private func resume(_ model: Model, _ scheduler: OperationScheduler) {
    model.state.withLock { $0.begun = nil }
    scheduler.resume()
  }

  private func change(
    _ model: Model,
    _ scheduler: OperationScheduler,
    _ group: OperationGroup,
    _ door: Door,
    _ number: Int,
    _ random: inout SeededGenerator
  ) async {
    let recent = Int.random(in: max(0, number - 20)...number, using: &random)
    let operation = model.state.withLock { $0.operations[recent] }
    switch Int.random(in: 0..<14, using: &random) {
    case 0: operation.cancel()
    case 1: operation.priority = [.low, .medium, .high].randomElement(using: &random) ?? .medium
    case 2:
      let width = Int.random(in: 1...6, using: &random)
      model.state.withLock { $0.widest = max($0.widest, width) }
      scheduler.maximumConcurrentOperations = width
    case 3:
      scheduler.suspend()
      let begun = scheduler.operations.filter { ![.suspended, .waitingForDependencies].contains($0.phase) }
      model.state.withLock { $0.begun = Set(begun.compactMap { Int($0.name) }) }
    case 4, 5: self.resume(model, scheduler)
    case 6: door.set(false)
    case 7, 8: door.set(true)
    case 9:
      let other = model.state.withLock { state in
        state.dependencies[recent].popFirst().map { state.operations[$0] }
      }
      if let other { operation.removeDependency(other) }
    case 10:
      guard recent > 0, scheduler.isSuspended else { return }
      let isWaiting = scheduler.operations.contains {
        $0.operation == operation.erased && [.suspended, .waitingForDependencies].contains($0.phase)
      }
      guard isWaiting else { return }
      let other = Int.random(in: 0..<recent, using: &random)
      operation.addDependency(model.state.withLock { $0.operations[other] })
      _ = model.state.withLock { $0.dependencies[recent].insert(other) }
    case 11: if Bool.random(using: &random) { group.suspend() } else { group.resume() }
    case 12: group.maximumConcurrentOperations = Int.random(in: 1...3, using: &random)
    default: await elsewhere()
    }
  }
}
