import OperationTesting
import TestFixtures
import Testing

@testable import OperationClients
@testable import OperationStores

@Suite(.bounded) struct SubscriberTableTests {
  private typealias State = QueryState<Int, any Error>
  private typealias Table = SubscriberTable

  private let handler = OperationEventHandler<State>()

  /// `#expect` does not accept a call that changes the table.
  private func expectTrue(_ isTrue: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(isTrue, sourceLocation: sourceLocation)
  }

  private func identities(_ subscribers: [Subscriber?]) -> [ObjectIdentifier?] {
    subscribers.map { $0.map { ObjectIdentifier($0) } }
  }

  @Test func `A table keeps the order in which subscribers are added`() {
    var table = Table()
    #expect(table.isEmpty)
    let all = (0..<10).map { _ in table.add(handler, role: .subscriber) }
    expect(table.slots.map(\.number), equals: Array(0..<10))
    expect(identities(table.slots.map(\.subscriber)), equals: identities(all))
    expect(table.nextNumber, equals: 10)
    expectTrue(table.remove(all[3]))
    expectTrue(table.remove(all[9]))
    _ = table.add(handler, role: .subscriber)
    expect(table.numbers, equals: [0, 1, 2, 4, 5, 6, 7, 8, 10])
    #expect(!table.isEmpty)
  }

  @Test func `A table counts subscribers and no listeners`() {
    var table = Table()
    let subscriber = table.add(handler, role: .subscriber)
    let listener = table.add(handler, role: .listener)
    let task = OperationTask<Int, any Error> { _, _ in 1 }
    let runListener = table.add(handler, role: .runListener(task.id))
    expect(table.count, equals: 1)
    expect(table.slots.map { $0.receivesEvents(of: nil) }, equals: [true, true, false])
    #expect(table.slots.allSatisfy { $0.receivesEvents(of: task.id) })
    expectTrue(table.remove(subscriber))
    expect(table.count, equals: 0)
    #expect(!table.isEmpty)
    expectTrue(table.remove(listener))
    expectTrue(table.remove(runListener))
    #expect(table.isEmpty)
  }

  @Test func `A table removes each subscriber once`() {
    var (table, other) = (Table(), Table())
    let subscriber = table.add(handler, role: .subscriber)
    let foreign = other.add(handler, role: .subscriber)
    expectTrue(!table.remove(foreign))
    expectTrue(table.remove(subscriber))
    expectTrue(!table.remove(subscriber))
    expect(table.count, equals: 0)
    expectTrue(other.remove(foreign))
  }

  @Test func `Removing all subscribers returns them`() {
    var table = Table()
    let all = (0..<5).map { _ in table.add(handler, role: .subscriber) }
    expectTrue(table.remove(all[1]))
    let removed = table.removeAll()
    expect(identities(removed), equals: identities([all[0], all[2], all[3], all[4]]))
    #expect(table.isEmpty)
    expect(table.count, equals: 0)
    expectTrue(!table.remove(all[0]))
    // The numbers continue: an event that was made before is not for a later subscriber.
    _ = table.add(handler, role: .subscriber)
    expect(table.numbers, equals: [5])
  }

  @Test func `A table does not grow with subscribers that have left`() {
    var table = Table()
    let first = table.add(handler, role: .subscriber)
    for _ in 0..<10_000 {
      let subscriber = table.add(handler, role: .subscriber)
      let other = table.add(handler, role: .subscriber)
      expectTrue(table.remove(subscriber))
      expectTrue(table.remove(other))
      #expect(table.slots.count < 100)
    }
    #expect(table.slots.first?.subscriber === first)
  }

  @Test func `A cancelled subscriber receives nothing`() {
    let recorder = EventRecorder<State>()
    var table = Table()
    let subscriber = table.add(recorder.handler, role: .subscriber)
    subscriber.receive(.started, OperationContext())
    subscriber.cancel()
    subscriber.receive(.ended, OperationContext())
    expect(recorder.digests, equals: [.started])
  }

  /// The table does what a list does, in any order of changes.
  @Test(arguments: 1...20 as ClosedRange<UInt64>) func `A table behaves like a list`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = Table()
    var (present, gone): ([Subscriber], [Subscriber]) = ([], [])
    // Phases in which more are added than removed, and the reverse, so that the table fills and empties.
    for round in 0..<2_000 {
      let isAdded = Int.random(in: 0..<10, using: &generator) < ((round / 250).isMultiple(of: 2) ? 7 : 3)
      if isAdded {
        let isSubscriber = Bool.random(using: &generator)
        present.append(table.add(handler, role: isSubscriber ? .subscriber : .listener))
      } else if let index = present.indices.randomElement(using: &generator) {
        let subscriber = present.remove(at: index)
        gone.append(subscriber)
        expectTrue(table.remove(subscriber))
      }
      if let subscriber = gone.randomElement(using: &generator) { expectTrue(!table.remove(subscriber)) }
      expect(table.isEmpty, equals: present.isEmpty)
      expect(
        table.count,
        equals: table.slots.count { slot in
          if slot.subscriber != nil, case .subscriber = slot.role { true } else { false }
        }
      )
      #expect(table.slots.count <= 2 * present.count + 20)
    }
    expect(identities(table.slots.compactMap(\.subscriber)), equals: identities(present))
  }
}

extension SubscriberTable {
  /// Adds a subscriber with a handler, and returns it.
  fileprivate mutating func add<State>(_ handler: OperationEventHandler<State>, role: Role) -> Subscriber {
    let subscriber = TypedSubscriber(handler)
    self.add(subscriber, role: role)
    return subscriber
  }

  /// The numbers of the present subscribers.
  fileprivate var numbers: [UInt64] { self.slots.filter { $0.subscriber != nil }.map(\.number) }
}
