import OperationCore
import OperationMutation
import OperationTesting
import TestFixtures
import Testing

/// Random calls, refetches and setters, compared with a model.
@Suite(.bounded, .warningsAreIssues)
struct LayerModelTests {
  /// The value that a store should show: its own, with the updates of the active calls applied.
  private struct Model {
    var value: [Int] = []
    var updates: [Int] = []

    var shown: [Int] { self.updates.reduce(self.value) { Model.apply($1, to: $0) } }

    /// The result depends on the order of the updates.
    static func apply(_ number: Int, to value: [Int]) -> [Int] { value + [number * 100 + value.count] }

    mutating func commit(_ number: Int) {
      self.value = Self.apply(number, to: self.value)
      self.updates.removeAll { $0 == number }
    }
  }

  private typealias State = QueryState<[Int], any Error>

  private struct Call {
    let number: Int
    let task: Task<Void, any Error>
    let run: ScriptedRun<Void, any Error>
  }

  @Test(arguments: 0..<60)
  func `The store shows its value with the updates of the active calls`(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let client = OperationClient()
    let feedScript = OperationScript<[Int], any Error>()
    let feed = client.store(for: feedScript.query(path: ["feed"]).disableAutomaticRunning(), initialValue: [])
    let script = OperationScript<Void, any Error>()
    let mutation = ClosureMutation<Int, Void, any Error> { _, context in
      try await script.run(in: context, with: .init { _, _ in })
    }.optimistic(on: ["feed"], of: State.self) { value, number in value = Model.apply(number, to: value ?? []) }
    let store = client.store(for: mutation)

    var model = Model()
    var calls: [Call] = []
    var trace: [String] = []
    for step in 1...40 {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0, 1, 2:
        trace.append("call \(step)")
        let task = Task.immediate { try await store.mutate(with: step) }
        calls.append(Call(number: step, task: task, run: try await script.next()))
        model.updates.append(step)
      case 3:
        trace.append("set \(step)")
        feed.currentValue = [-step]
        model.value = [-step]
      case 4:
        trace.append("fetch \(step)")
        feedScript.enqueue(.yield(.success([0]), then: .value([-step, -step])))
        try await feed.fetch()
        model.value = [-step, -step]
      case 5:
        guard let index = calls.indices.randomElement(using: &generator) else { continue }
        let call = calls.remove(at: index)
        trace.append("fail \(call.number)")
        call.run.fail(Refused())
        _ = try? await call.task.value
        model.updates.removeAll { $0 == call.number }
      case 6:
        guard let index = calls.indices.randomElement(using: &generator) else { continue }
        let call = calls.remove(at: index)
        trace.append("cancel \(call.number)")
        call.task.cancel()
        _ = try? await call.task.value
        model.updates.removeAll { $0 == call.number }
      default:
        guard let index = calls.indices.randomElement(using: &generator) else { continue }
        let call = calls.remove(at: index)
        trace.append("succeed \(call.number)")
        call.run.succeed()
        try await call.task.value
        model.commit(call.number)
      }
      try #require(feed.currentValue == model.shown, "\(trace.joined(separator: ", "))")
    }
    for call in calls {
      call.task.cancel()
      _ = try? await call.task.value
    }
    expect(feed.currentValue, equals: model.value, "\(trace.joined(separator: ", "))")
  }

  /// With refetches that start and end at any time.
  @Test(arguments: 0..<60)
  func `A refetch that starts after the success of a call removes its update`(
    seed: UInt64
  ) async throws {
    var generator = SeededGenerator(seed: seed)
    let client = OperationClient()
    let feedScript = OperationScript<Set<Int>, any Error>()
    let feed = client.store(for: feedScript.query(path: ["feed"]), initialValue: [])
    let recorder = EventRecorder<QueryState<Set<Int>, any Error>>()
    let subscription = feed.subscribe(with: recorder.handler)
    let script = OperationScript<Void, any Error>()
    let mutation = ClosureMutation<Int, Void, any Error> { _, context in
      try await script.run(in: context, with: .init { _, _ in })
    }
    .optimistic(on: ["feed"], of: QueryState<Set<Int>, any Error>.self) { $0?.insert($1) }
    .invalidates(matching: ["feed"])
    let store = client.store(for: mutation)

    // The posts of the server, to which active calls add theirs.
    var server: Set<Int> = []
    var calls: [Call] = []
    for step in 1...30 {
      let number = Int.random(in: 0..<4, using: &generator)
      if number < 2 {
        let task = Task.immediate { try await store.mutate(with: step) }
        calls.append(Call(number: step, task: task, run: try await script.next()))
      } else if let index = calls.indices.randomElement(using: &generator) {
        let call = calls.remove(at: index)
        if number == 2 {
          server.insert(call.number)
          call.run.succeed()
        } else {
          call.run.fail(Refused())
        }
        _ = try? await call.task.value
        if number == 2 {
          // The refetch returns the posts of the server, or fails.
          let refetch = try await feedScript.next()
          let shown = server.union(calls.map(\.number))
          expect(feed.currentValue, equals: shown)
          if Bool.random(using: &generator) { refetch.succeed(server) } else { refetch.fail(Refused()) }
          await feed.settled()
        }
      }
      expect(feed.currentValue, equals: server.union(calls.map(\.number)))
    }
    for call in calls {
      call.task.cancel()
      _ = try? await call.task.value
    }
    expect(feed.currentValue, equals: server)
    // A post of a successful call never disappeared.
    var seen: Set<Int> = []
    for value in recorder.stateValues {
      seen = seen.intersection(server)
      #expect(seen.isSubset(of: value ?? []))
      seen.formUnion(value ?? [])
    }
    subscription.cancel()
  }
}
