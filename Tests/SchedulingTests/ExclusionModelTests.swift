import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

/// The machine behind mutual exclusion against a model that recomputes everything.
@Suite(.bounded)
struct ExclusionModelTests {
  /// A run, as the model sees it.
  private struct Run {
    let id: Int
    let categories: [Int]
    let scope: RunScope
    let waiter: ExclusionWaiter?
  }

  @Test(arguments: ModelRuns.seeds)
  func `Runs are admitted as in the model`(seed: UInt64) async {
    await ModelRuns.check(200, seed: seed) { Self.failure(of: &$0) }
  }

  /// Runs one schedule. Returns what differs from the model.
  private static func failure(of random: inout SeededGenerator) -> String? {
    var machine = ExclusionMachine()
    let slots = (0..<5).map { _ in machine.addLane() }
    var waiting: [Run] = []
    var holding: [Run] = []
    for id in 0..<Int.random(in: 1...60, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let categories = Array(slots.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
        let scope = RunScope(parent: nil, operationType: AnyWork.self)
        if machine.tryAcquire(scope, categories) {
          let run = Run(id: id, categories: categories, scope: scope, waiter: nil)
          guard Self.mayEnter(run, holding: holding, waiting: waiting) else { return "step \(id): an early run" }
          holding.append(run)
        } else {
          let waiter = ExclusionWaiter(scope: scope, slots: categories)
          _ = machine.enqueue(waiter)
          waiting.append(Run(id: id, categories: categories, scope: scope, waiter: waiter))
        }
      case 5..<7 where !waiting.isEmpty:
        let run = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
        guard let waiter = run.waiter else { continue }
        // Whether it was cancelled or has waited too long is the same for the others.
        _ = machine.leave(waiter, with: Bool.random(using: &random) ? .left : .timedOut)
      case _ where !holding.isEmpty:
        let run = holding.remove(at: Int.random(in: holding.indices, using: &random))
        _ = machine.release(run.scope, run.categories)
      default:
        continue
      }
      // The model admits each waiter that is the first in all of its categories, until there is none.
      while let index = waiting.firstIndex(where: { Self.mayEnter($0, holding: holding, waiting: waiting) }) {
        holding.append(waiting.remove(at: index))
      }
      guard waiting.allSatisfy({ $0.waiter?.isWaiting == true }) else { return "step \(id): an early run" }
      guard holding.allSatisfy({ $0.waiter.map(\.isAdmitted) ?? true }) else { return "step \(id): a run waits" }
    }
    for run in holding { _ = machine.release(run.scope, run.categories) }
    // Each that leaves or ends may admit later ones, and no earlier one.
    for case (let run, let waiter?) in waiting.map({ ($0, $0.waiter) }) {
      _ = waiter.isWaiting ? machine.leave(waiter) : machine.release(run.scope, run.categories)
    }
    guard machine.waiterCount == 0, machine.heldCount == 0 else {
      return "\(machine.waiterCount) wait, \(machine.heldCount) hold"
    }
    for slot in slots { machine.removeLane(slot) }
    return machine.laneCount == 0 ? nil : "\(machine.laneCount) lanes"
  }

  private static func mayEnter(_ run: Run, holding: [Run], waiting: [Run]) -> Bool {
    let earlier = holding + waiting.filter { $0.id < run.id }
    return earlier.allSatisfy { Set($0.categories).isDisjoint(with: run.categories) }
  }

  @Test func `A queue of tickets keeps its order, whatever is removed`() {
    var random = SeededGenerator(seed: 7)
    var queue = TicketQueue<UInt64>()
    var model: [UInt64] = []
    for ticket in UInt64(1)...3_000 {
      queue.append(ticket, ticket: ticket)
      model.append(ticket)
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        if Bool.random(using: &random) {
          let first = model.isEmpty ? nil : model.removeFirst()
          expect(queue.popFirst(), equals: first)
        } else if let index = model.indices.randomElement(using: &random) {
          let removed = model.remove(at: index)
          expect(queue.remove(removed), equals: removed)
          expect(queue.remove(removed), equals: nil)
        }
      }
      expect(queue.first, equals: model.first)
      expect(queue.firstTicket, equals: model.first)
      expect(queue.count, equals: model.count)
      let middle = UInt64.random(in: 0...ticket + 1, using: &random)
      expect(queue.last(before: middle), equals: model.last { $0 < middle })
      expect(queue.elements(before: middle), equals: model.filter { $0 < middle })
    }
    expect(queue.all, equals: model)
  }

  @Test func `Urgent work goes first, and every sixteenth choice is the one that waits longest`() {
    let core = SchedulerCore(width: 1, name: "ready", isSuspended: true, initialContext: .init())
    var queue = ReadyQueue()
    func node(_ priority: UInt8) -> ScheduledNode {
      let node = ScheduledNode(
        core: core,
        isVital: false,
        isBarrier: false,
        operationType: AnyWork.self,
        hasPreparation: false,
        name: "work"
      )
      node.state.priority = priority
      return node
    }
    let patient = node(1)
    queue.append(patient)
    for _ in 0..<40 { queue.append(node(9)) }
    let dropped = node(5)
    queue.append(dropped)
    queue.remove(dropped)
    var order: [UInt8] = []
    while let next = queue.popNext() { order.append(next.state.priority) }
    expect(order.count, equals: 41)
    expect(order.firstIndex(of: 1), equals: 15)
    #expect(!order.contains(5))
  }
}

extension ExclusionWaiter {
  fileprivate var isAdmitted: Bool {
    if case .decided(.admitted) = self.state.waiter { true } else { false }
  }
}
