import OperationTesting
import SharingOperation
import TestFixtures
import Testing

/// A model that is an actor.
private actor CounterModel {
  @SharedOperation<QueryState<Int, any Error>> private var count: Int?
  private(set) var seen: [Int?] = []

  init(_ script: OperationScript<Int, any Error>, client: OperationClient) {
    self._count = SharedOperation(script.query(), client: client)
  }

  var value: Int? { self.count }

  func increment() {
    let count = (self.count ?? 0) + 1
    self.count = count
    self.seen.append(self.count)
  }

  func fetch() async throws -> Int? {
    try await self.$count.fetch()
    return self.count
  }

  func move(to script: OperationScript<Int, any Error>, client: OperationClient) {
    self.$count = SharedOperation(script.query(), client: client)
  }
}

@Suite(.bounded, .warningsAreIssues)
struct ActorTests {
  private let client = makeClient(runsAutomatically: false)

  @Test func `An actor reads the value that it has set, and the one that it has fetched`() async throws {
    let script = OperationScript<Int, any Error>(default: .value(10))
    let model = CounterModel(script, client: self.client)

    await model.increment()
    await model.increment()
    await expect(model.seen, equals: [1, 2])
    try await expect(model.fetch(), equals: 10)
  }

  @Test func `Actors that share an operation see the changes of each other`() async throws {
    let script = OperationScript<Int, any Error>()
    let models = (0..<4).map { _ in CounterModel(script, client: self.client) }

    for model in models { await model.increment() }

    for model in models { await expect(model.value, equals: 4) }
    expect(self.client.store(for: script.query()).subscriberCount, equals: 4)
  }

  @Test func `An actor moves its wrapper to another operation`() async throws {
    let first = OperationScript<Int, any Error>()
    let second = OperationScript<Int, any Error>()
    let model = CounterModel(first, client: self.client)
    await model.increment()

    await model.move(to: second, client: self.client)

    await expect(model.value, equals: nil)
    expect(self.client.store(for: first.query()).subscriberCount, equals: 0)
  }
}
