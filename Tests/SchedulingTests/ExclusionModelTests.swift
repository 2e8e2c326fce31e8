import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

/// The machine behind mutual exclusion against a model that recomputes everything.
@Suite(.timeLimit(.minutes(10)))
struct ExclusionModelTests {
  /// A run, as the model sees it.
  private struct Run {
    let id: Int
    let categories: [Int]
    let scope: RunScope
    let waiter: ExclusionWaiter?
  }

  @Test(arguments: 0..<20)
  func `Runs are admitted as in the model`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var machine = ExclusionMachine()
    let slots = (0..<5).map { _ in machine.addLane() }
    var waiting: [Run] = []
    var holding: [Run] = []
    for id in 0..<500 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let categories = Array(slots.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
        let scope = RunScope(parent: nil, operationType: AnyWork.self)
        if machine.tryAcquire(scope, categories) {
          let run = Run(id: id, categories: categories, scope: scope, waiter: nil)
          #expect(self.mayEnter(run, holding: holding, waiting: waiting))
          holding.append(run)
        } else {
          let waiter = ExclusionWaiter(scope: scope, slots: categories)
          _ = machine.enqueue(waiter)
          waiting.append(Run(id: id, categories: categories, scope: scope, waiter: waiter))
        }
      case 5..<7 where !waiting.isEmpty:
        let run = waiting.remove(at: Int.random(in: waiting.indices, using: &random))
        guard let waiter = run.waiter else { continue }
        _ = machine.leave(waiter)
      case _ where !holding.isEmpty:
        let run = holding.remove(at: Int.random(in: holding.indices, using: &random))
        _ = machine.release(run.scope, run.categories)
      default:
        continue
      }
      // The model admits each waiter that is the first in all of its categories, until there is none.
      while let index = waiting.firstIndex(where: { self.mayEnter($0, holding: holding, waiting: waiting) }) {
        holding.append(waiting.remove(at: index))
      }
      #expect(waiting.allSatisfy { $0.waiter?.isWaiting == true })
      #expect(holding.allSatisfy { $0.waiter.map(\.isAdmitted) ?? true })
    }
    for run in holding { _ = machine.release(run.scope, run.categories) }
    // Each that leaves or ends may admit later ones, and no earlier one.
    for case (let run, let waiter?) in waiting.map({ ($0, $0.waiter) }) {
      _ = waiter.isWaiting ? machine.leave(waiter) : machine.release(run.scope, run.categories)
    }
    #expect(machine.waiterCount == 0)
    #expect(machine.heldCount == 0)
    for slot in slots { machine.removeLane(slot) }
    #expect(machine.laneCount == 0)
  }

  private func mayEnter(_ run: Run, holding: [Run], waiting: [Run]) -> Bool {
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
          #expect(queue.popFirst() == first)
        } else if let index = model.indices.randomElement(using: &random) {
          let removed = model.remove(at: index)
          #expect(queue.remove(removed) == removed)
          #expect(queue.remove(removed) == nil)
        }
      }
      #expect(queue.first == model.first)
      #expect(queue.firstTicket == model.first)
      #expect(queue.count == model.count)
      let middle = UInt64.random(in: 0...ticket + 1, using: &random)
      #expect(queue.last(before: middle) == model.last { $0 < middle })
      #expect(queue.elements(before: middle) == model.filter { $0 < middle })
    }
    #expect(queue.all == model)
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
    #expect(order.count == 41)
    #expect(order.firstIndex(of: 1) == 15)
    #expect(!order.contains(5))
  }
}

extension ExclusionWaiter {
  fileprivate var isAdmitted: Bool {
    if case .decided(.admitted) = self.state.waiter { true } else { false }
  }
}
