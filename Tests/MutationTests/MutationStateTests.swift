import OperationCore
import OperationMutation
import Testing

/// The state by itself, as a store drives it.
@Suite struct MutationStateTests {
  private typealias State = MutationState<Int, Int, Refused>
  private typealias StateTask = OperationTask<Int, Refused>

  private struct Model {
    enum Change {
      case value(Int?)
      case error(Int)
    }

    /// What has happened, with the call that it belongs to while that can be taken back.
    var changes: [(owner: Int?, change: Change)] = []

    var values: [Int?] {
      self.changes.compactMap { if case .value(let value) = $0.change { .some(value) } else { nil } }
    }

    var errorCount: Int { self.changes.count - self.values.count }

    var error: Refused? {
      if case .error(let code) = self.changes.last?.change { Refused(code: code) } else { nil }
    }
  }

  /// Any order of calls that yield, end and are cancelled, and of setters.
  @Test(arguments: 0..<200)
  func `What is left of a cancelled call is nothing`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let store = OperationStore.detached(
      mutation: ClosureMutation<Int, Int, Refused> { arguments, _ throws(Refused) in arguments }
    )
    var state = State(initialValue: -1)
    var model = Model()
    var running: [(number: Int, task: StateTask)] = []

    for step in 1...60 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1:
        var task = store.mutateTask(with: step)
        state.scheduleFetchTask(&task)
        running.append((step, task))
      case 2:
        state.update(with: .success(step), using: store.context)
        model.changes.append((nil, .value(step)))
      case 3:
        guard let call = running.randomElement(using: &generator) else { continue }
        var task = call.task
        task.context.operationResultUpdateReason = .yieldedResult
        let isError = Bool.random(using: &generator)
        state.update(with: isError ? .failure(Refused(code: step)) : .success(step), for: task)
        model.changes.append((call.number, isError ? .error(step) : .value(step)))
      case 4:
        guard let index = running.indices.randomElement(using: &generator) else { continue }
        let call = running.remove(at: index)
        var task = call.task
        task.context.operationResultUpdateReason = .returnedFinalResult
        let isError = Bool.random(using: &generator)
        state.update(with: isError ? .failure(Refused(code: step)) : .success(step), for: task)
        state.finishFetchTask(task)
        for index in model.changes.indices where model.changes[index].owner == call.number {
          model.changes[index].owner = nil
        }
        model.changes.append((nil, isError ? .error(step) : .value(step)))
      default:
        guard let index = running.indices.randomElement(using: &generator) else { continue }
        let call = running.remove(at: index)
        state.finishFetchTask(call.task)
        model.changes.removeAll { $0.owner == call.number }
      }
      #expect(state.currentValue == model.values.last ?? -1)
      #expect(state.valueUpdateCount == model.values.count)
      #expect(state.errorUpdateCount == model.errorCount)
      #expect(state.error == model.error)
      #expect(state.isLoading == !running.isEmpty)
      #expect(state.history.count <= 10)
    }
    let effect = state.reset(using: store.context)
    #expect(effect.tasksToCancel.map(\.id) == running.map(\.task.id))
    #expect(state.status.isIdle)
    #expect(state.currentValue == -1)
  }
}
