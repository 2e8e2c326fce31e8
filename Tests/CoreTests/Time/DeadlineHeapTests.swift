import TestFixtures
import Testing

@testable import OperationStores
@testable import OperationTools

@Suite(.bounded) struct DeadlineHeapTests {
  private let start = ContinuousClock.now

  private func deadline(_ milliseconds: Int) -> Deadline {
    Deadline(instant: start + .milliseconds(milliseconds), callsOnWorker: false) {}
  }

  @Test func `A heap returns the earliest deadline first`() {
    var heap = DeadlineHeap<Deadline>()
    #expect(heap.first == nil)
    for milliseconds in [5, 1, 4, 1, 3, 9, 2] { heap.insert(deadline(milliseconds)) }
    expect(heap.count, equals: 7)
    var order: [Duration] = []
    while let first = heap.first {
      order.append(start.duration(to: first.instant))
      heap.remove(first)
      expect(first.position, equals: nil)
    }
    expect(order, equals: [1, 1, 2, 3, 4, 5, 9].map { .milliseconds($0) })
    expect(heap.count, equals: 0)
  }

  @Test func `A heap removes a deadline from anywhere and once`() {
    var heap = DeadlineHeap<Deadline>()
    let deadlines = (0..<10).map { deadline($0) }
    for deadline in deadlines.shuffled() { heap.insert(deadline) }
    heap.remove(deadlines[5])
    heap.remove(deadlines[5])
    heap.remove(deadline(5))
    expect(heap.count, equals: 9)
    heap.remove(deadlines[0])
    #expect(heap.first === deadlines[1])
    heap.remove(deadlines[9])
    expect(heap.count, equals: 7)
  }

  /// The heap does what a sorted list does, whatever comes and goes.
  @Test(arguments: 1...20 as ClosedRange<UInt64>) func `A heap behaves like a sorted list`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var heap = DeadlineHeap<Deadline>()
    var model: [Deadline] = []
    for _ in 0..<1_000 {
      if model.isEmpty || Int.random(in: 0..<5, using: &generator) < 3 {
        let deadline = deadline(Int.random(in: 0..<50, using: &generator))
        heap.insert(deadline)
        model.append(deadline)
      } else if Bool.random(using: &generator), let first = heap.first {
        heap.remove(first)
        model.removeAll { $0 === first }
      } else {
        heap.remove(model.remove(at: Int.random(in: model.indices, using: &generator)))
      }
      expect(heap.count, equals: model.count)
      expect(heap.first?.instant, equals: model.map(\.instant).min())
    }
    while let first = heap.first {
      expect(first.instant, equals: model.map(\.instant).min())
      heap.remove(first)
      model.removeAll { $0 === first }
    }
    #expect(model.isEmpty)
  }
}
