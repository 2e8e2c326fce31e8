import TestFixtures
import Testing

@testable import OperationTools

@Suite(.bounded) struct SerialQueueTests {
  /// Keeps a queue, so that an expectation may change it.
  private final class Queue {
    private var queue = SerialQueue<Int>()

    init(_ elements: some Sequence<Int>) {
      for element in elements { self.queue.append(element) }
    }

    var count: Int { self.queue.count }
    var isEmpty: Bool { self.queue.isEmpty }
    func append(_ element: Int) { self.queue.append(element) }
    func begin() -> Int? { self.queue.begin() }
    func beginDirectly() -> Bool { self.queue.beginDirectly() }
    func next() -> Int? { self.queue.next() }
    func end() -> Bool { self.queue.end() }
    var first: Int? { self.queue.first }
    func popFirst() -> Int? { self.queue.popFirst() }
  }

  @Test func `One caller processes the elements in order, and those that are appended meanwhile`() {
    let queue = Queue(1...2)
    expect(queue.begin(), equals: 1)
    expect(queue.begin(), equals: nil)
    queue.append(3)
    expect(queue.count, equals: 2)
    expect(queue.next(), equals: 2)
    expect(queue.next(), equals: 3)
    #expect(queue.isEmpty)
    expect(queue.begin(), equals: nil)
    expect(queue.next(), equals: nil)
    queue.append(4)
    expect(queue.begin(), equals: 4)
  }

  @Test func `An element is processed directly only if nothing is queued or in progress`() {
    let queue = Queue([])
    #expect(queue.beginDirectly())
    #expect(!queue.beginDirectly())
    queue.append(1)
    #expect(!queue.end())
    expect(queue.next(), equals: 1)
    #expect(queue.end())
    queue.append(2)
    #expect(!queue.beginDirectly())
    expect(queue.begin(), equals: 2)
  }

  @Test func `Several callers take the first element each`() {
    let queue = Queue(1...2)
    #expect(queue.first == 1 && queue.count == 2)
    expect(queue.popFirst(), equals: 1)
    expect(queue.first, equals: 2)
    expect(queue.popFirst(), equals: 2)
    expect(queue.first, equals: nil)
    expect(queue.popFirst(), equals: nil)
    queue.append(3)
    expect(queue.first, equals: 3)
  }

  @Test func `Ten thousand elements leave in the order in which they came`() {
    let numbers = Array(0..<10_000)
    let queue = Queue(numbers)
    var received = queue.begin().map { [$0] } ?? []
    while let element = queue.next() {
      received.append(element)
      if element.isMultiple(of: 3), element < 10_000 { queue.append(10_000 + element) }
    }
    expect(received, equals: numbers + numbers.filter { $0 > 0 && $0.isMultiple(of: 3) }.map { 10_000 + $0 })
    #expect(queue.isEmpty && queue.count == 0)
  }
}
