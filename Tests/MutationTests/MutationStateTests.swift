import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationMutation

/// The state, called as a store calls it.
@Suite(.bounded) struct MutationStateTests {
  private typealias State = MutationState<Int, Int, Refused>
  private typealias StateTask = OperationTask<Int, Refused>

  /// All events, from which the shown results are computed anew each time.
  private struct Model {
    enum Event {
      case set(Result<Int, Refused>)
      case yielded(call: Int, Result<Int, Refused>)
      case ended(call: Int, Result<Int, Refused>)

      var call: Int? {
        switch self {
        case .set: nil
        case .yielded(let call, _), .ended(let call, _): call
        }
      }
    }

    struct View {
      var value = -1
      var error: Refused?
      var valueCount = 0
      var errorCount = 0
      var lastEnded = 0
    }

    var events: [Event] = []

    mutating func cancel(_ call: Int) {
      self.events.removeAll { $0.call == call }
    }

    /// Calls are numbered in the order of their starts.
    var view: View {
      var view = View()
      var values: [Int: Int] = [:]
      var newest: [Int: Result<Int, Refused>] = [:]
      var setError: Refused?
      for event in self.events {
        let result: Result<Int, Refused>
        switch event {
        case .set(let set):
          result = set
          newest = [:]
          setError = nil
          switch set {
          case .success(let value): (view.value, values) = (value, [:])
          case .failure(let error): setError = error
          }
        case .yielded(let call, let yielded), .ended(let call, let yielded):
          if call <= view.lastEnded { continue }
          result = yielded
          newest[call] = result
          if case .success(let value) = result { values[call] = value }
          if case .ended = event {
            view.lastEnded = call
            newest = newest.filter { $0.key >= call }
            if let value = values[call] {
              view.value = value
              values = values.filter { $0.key > call }
            }
            setError = nil
          }
        }
        if case .success = result { view.valueCount += 1 } else { view.errorCount += 1 }
      }
      if let last = values.max(by: { $0.key < $1.key }) { view.value = last.value }
      switch newest.max(by: { $0.key < $1.key })?.value {
      case .success: view.error = nil
      case .failure(let error): view.error = error
      case nil: view.error = setError
      }
      return view
    }
  }

  /// Calls yield, end and are cancelled, and values are set, in any order.
  @Test(arguments: 0..<UInt64(ModelRuns.count(25, parts: 25)))
  func `A cancelled call leaves nothing in the state`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let store = OperationStore.detached(
      mutation: ClosureMutation<Int, Int, Refused> { arguments, _ throws(Refused) in arguments }
    )
    var state = State(initialValue: -1)
    var model = Model()
    var running: [(number: Int, task: StateTask)] = []
    var ended: [Int] = []
    var calls = 0

    for step in 1...60 {
      let result: Result<Int, Refused> =
        Int.random(in: 0..<3, using: &generator) == 0 ? .failure(Refused(code: step)) : .success(step)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1:
        calls += 1
        var task = store.mutateTask(with: calls)
        state.scheduleFetchTask(&task)
        running.append((calls, task))
      case 2:
        state.update(with: result.map { $0 }, using: store.context)
        model.events.append(.set(result))
      case 3:
        guard let call = running.randomElement(using: &generator) else { continue }
        var task = call.task
        task.context.operationResultUpdateReason = .yieldedResult
        state.update(with: result, for: task)
        model.events.append(.yielded(call: call.number, result))
      case 4:
        guard let index = running.indices.randomElement(using: &generator) else { continue }
        let call = running.remove(at: index)
        var task = call.task
        task.context.operationResultUpdateReason = .returnedFinalResult
        state.update(with: result, for: task)
        state.finishFetchTask(task)
        model.events.append(.ended(call: call.number, result))
        ended.append(call.number)
      default:
        guard let index = running.indices.randomElement(using: &generator) else { continue }
        let call = running.remove(at: index)
        state.finishFetchTask(call.task)
        model.cancel(call.number)
      }
      let view = model.view
      expect(state.currentValue, equals: view.value)
      expect(state.valueUpdateCount, equals: view.valueCount)
      expect(state.errorUpdateCount, equals: view.errorCount)
      expect(state.error, equals: view.error)
      expect(state.isLoading, equals: !running.isEmpty)
      expect(state.status.isLoading, equals: ((running.last?.number ?? 0) > view.lastEnded))
      expect(state.activeTasks.map(\.id), equals: running.map(\.task.id))
      let all = (running.map(\.number) + ended).sorted()
      expect(state.latestArguments, equals: all.last)
      expect(state.history.count, equals: min(10, all.count))
      expect(state.history.map(\.arguments), equals: state.history.map(\.arguments).sorted())
    }
    let effect = state.reset(using: store.context)
    expect(effect.tasksToCancel.map(\.id), equals: running.map(\.task.id))
    #expect(state.status.isIdle)
    expect(state.currentValue, equals: -1)
  }
}

/// The map of the calls.
@Suite(.bounded) struct ChunkedMapTests {
  /// A number that counts how often it is compared.
  private struct Key: Comparable, Sendable {
    @TaskLocal static var comparisons: Counter?

    let number: Int

    static func < (lhs: Key, rhs: Key) -> Bool {
      self.comparisons?.increment()
      return lhs.number < rhs.number
    }

    static func == (lhs: Key, rhs: Key) -> Bool {
      self.comparisons?.increment()
      return lhs.number == rhs.number
    }
  }

  @Test(arguments: 0..<20)
  func `The map does the same as a sorted dictionary`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var map = ChunkedMap<Int, Int>()
    var copies: [(ChunkedMap<Int, Int>, [Int: Int])] = []
    var model: [Int: Int] = [:]
    for step in 0..<2_000 {
      let key = Int.random(in: 0..<600, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...3:
        map.insert(step, for: key)
        model[key] = step
      case 4, 5:
        expect(map.removeValue(for: key), equals: model.removeValue(forKey: key))
      case 6:
        map.update(key) { $0 += 1 }
        model[key]? += 1
      default:
        let first = model.keys.min()
        expect(map.removeFirst(), equals: first.flatMap { model.removeValue(forKey: $0) })
      }
      expect(map[key], equals: model[key])
      if step % 500 == 0 { copies.append((map, model)) }
    }
    for (map, model) in copies + [(map, model)] {
      let sorted = model.sorted { $0.key < $1.key }
      expect(map.count, equals: sorted.count)
      expect(map.values, equals: sorted.map(\.value))
      expect(map.first?.key, equals: sorted.first?.key)
      expect(map.last?.key, equals: sorted.last?.key)
      expect(map.suffix(5) { $0 }.map(\.key), equals: sorted.suffix(5).map(\.key))
      let last = map.last(after: 300) { $0 % 2 == 0 ? $0 : nil }
      expect(last, equals: sorted.last { $0.key > 300 && $0.value % 2 == 0 }?.value)
    }
  }

  @Test func `The number of comparisons of a change hardly grows`() {
    func comparisons(of count: Int) -> Int {
      let comparisons = Counter()
      Key.$comparisons.withValue(comparisons) {
        var map = ChunkedMap<Key, Int>()
        for number in 0..<count { map.insert(number, for: Key(number: number)) }
        for number in 0..<count { map.update(Key(number: number)) { $0 += 1 } }
        for number in (0..<count).reversed() where number % 2 == 0 { map.removeValue(for: Key(number: number)) }
        for number in 0..<count where number % 2 == 1 { map.removeValue(for: Key(number: number)) }
        #expect(map.isEmpty)
      }
      return comparisons.value / count
    }
    #expect(comparisons(of: 8_000) < 2 * comparisons(of: 100) + 20)
  }

  @Test func `A change of a copy copies few elements`() {
    final class Value: Sendable {}
    let values = (0..<8_000).map { _ in Value() }
    var map = ChunkedMap<Int, Value>()
    for (number, value) in values.enumerated() { map.insert(value, for: number) }
    var copies: [ChunkedMap<Int, Value>] = []
    func references() -> UInt { values.reduce(0) { $0 + _getRetainCount($1) } }
    let before = references()
    for number in 0..<100 {
      copies.append(map)
      map.update(number * 80) { $0 = Value() }
    }
    // Each element that a change copies has one more reference.
    #expect(references() - before <= 100 * 64)
    expect(copies.count, equals: 100)
  }
}
