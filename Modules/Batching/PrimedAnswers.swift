public import OperationCore
internal import Synchronization

/// The answers that a batcher has been given before they were asked for.
@usableFromInline
final class PrimedAnswers<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline typealias Answer = Result<Value, any Error>

  private struct Place: Hashable, @unchecked Sendable {
    // Unchecked because the scope, whose type is erased, is Sendable.
    let scope: AnyHashable?
    let key: Key
  }

  private struct Entry: Sendable {
    let number: UInt64
    let answer: Answer
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var entries: [Place: Entry] = [:]
    /// The places in the order in which they were primed. One is out of date if its entry has another number.
    var order: [(number: UInt64, place: Place)] = []
    /// The number of places at the beginning of the order that were dropped.
    var droppedCount = 0
  }

  private let maximumCount: Int
  private let state = Locked(State())
  /// The number of answers, which most batchers never have: they then take no lock.
  private let count = Atomic(0)

  init(maximumCount: Int) {
    self.maximumCount = maximumCount
  }

  @usableFromInline var isEmpty: Bool { self.count.load(ordering: .acquiring) == 0 }

  var answerCount: Int { self.count.load(ordering: .relaxed) }

  @usableFromInline
  func answer(for key: Key, in context: OperationContext) -> Answer? {
    let place = Place(scope: context.batchScope, key: key)
    return self.state.withLock { $0.entries[place]?.answer }
  }

  /// Keeps an answer. Drops the one that was primed first if there are too many.
  func set(_ answer: Answer, for key: Key, in context: OperationContext) {
    let place = Place(scope: context.batchScope, key: key)
    self.state.withLock { state, released in
      state.lastNumber += 1
      released.append(state.entries.updateValue(Entry(number: state.lastNumber, answer: answer), forKey: place))
      state.order.append((state.lastNumber, place))
      while state.entries.count > self.maximumCount { self.dropFirst(&state, &released) }
      if state.order.count > 2 * state.entries.count + 16 { self.tidy(&state, &released) }
      self.count.store(state.entries.count, ordering: .releasing)
    }
  }

  func remove(_ key: Key, in context: OperationContext) {
    let place = Place(scope: context.batchScope, key: key)
    self.state.withLock { state, released in
      released.append(state.entries.removeValue(forKey: place))
      self.count.store(state.entries.count, ordering: .releasing)
    }
  }

  func removeAll() {
    self.state.withLock { state, released in
      released.append(state)
      (state.entries, state.order, state.droppedCount) = ([:], [], 0)
      self.count.store(0, ordering: .releasing)
    }
  }

  private func dropFirst(_ state: inout State, _ released: inout ReleasedValues) {
    let (number, place) = state.order[state.droppedCount]
    state.droppedCount += 1
    if state.entries[place]?.number == number { released.append(state.entries.removeValue(forKey: place)) }
  }

  /// Removes the places that are out of date from the order. There are as many as answers, so each answer pays for one.
  private func tidy(_ state: inout State, _ released: inout ReleasedValues) {
    released.append(state.order)
    state.order = state.order.filter { state.entries[$0.place]?.number == $0.number }
    state.droppedCount = 0
  }
}
