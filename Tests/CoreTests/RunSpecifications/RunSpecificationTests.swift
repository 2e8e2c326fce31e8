import CoreFixtures
import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

/// Conditions of the world, and what `&&`, `||` and `!` make of them.
@Suite(.bounded, .warningsAreIssues)
struct RunSpecificationTests {
  private let context = OperationContext()

  @Test(arguments: [false, true], [false, true])
  func `Operators follow logic`(left: Bool, right: Bool) {
    let first = AlwaysRunSpecification(isTrue: left)
    let second = SwitchSpecification(right)
    expect((first && second).isSatisfied(in: self.context), equals: (left && right))
    expect((first || second).isSatisfied(in: self.context), equals: (left || right))
    expect((!second).isSatisfied(in: self.context), equals: !right)
    expect((!(first && second) || first).isSatisfied(in: self.context), equals: (!(left && right) || left))
    let some: some OperationRunSpecification = .always(left)
    expect(some.isSatisfied(in: self.context), equals: left)
    expect(AnySendableRunSpecification(second).isSatisfied(in: self.context), equals: right)
    expect(NotRunSpecification(second).isSatisfied(in: self.context), equals: !right)
    expect(BinaryOperatorRunSpecification(first, .or, second).isSatisfied(in: self.context), equals: (left || right))
  }

  @Test
  func `Combinations report the changes of all their parts, until they are cancelled`() {
    let left = SwitchSpecification(false)
    let right = SwitchSpecification(false)
    let calls = Counter()
    let subscriptions = [
      (left && right).subscribe(in: self.context) { calls.increment() },
      (!left || right).subscribe(in: self.context) { calls.increment() },
      AnySendableRunSpecification(left).subscribe(in: self.context) { calls.increment() },
    ]
    left.set(true)
    expect(calls.value, equals: 3)
    right.set(true)
    expect(calls.value, equals: 5)
    OperationSubscription.combined(subscriptions).cancel()
    left.set(false)
    expect(calls.value, equals: 5)
    expect(left.observerCount + right.observerCount, equals: 0)
  }

  @Test
  func `A condition that does not change has nothing to subscribe to`() {
    let subscription = AlwaysRunSpecification(isTrue: true).subscribe(in: self.context) { Issue.record("It changed.") }
    subscription.cancel()
  }

  @Test
  func `A specification sees the context of its store`() {
    let query = IntScript(default: .value(1)).query()
      .enableAutomaticRunning(onlyWhen: NumberIsPositive())
      .context { $0[NumberKey.self] = -1 }
    let store = IntStore.detached(query: query)
    #expect(!store.isAutomaticRunningEnabled)
    store.context[NumberKey.self] = 1
    #expect(store.isAutomaticRunningEnabled)
  }

  @Test
  func `A sequence says whether the condition holds`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let specification: AsyncSequenceRunSpecification = .observing(sequence: stream, initialValue: false)
    let changes = ChangeRecorder()
    let subscription = specification.subscribe(in: self.context) {
      changes.note(specification.isSatisfied(in: OperationContext()))
    }
    defer { subscription.cancel() }
    #expect(!specification.isSatisfied(in: self.context))
    continuation.yield(true)
    try await changes.reached(1)
    #expect(specification.isSatisfied(in: self.context))
    continuation.yield(true)
    continuation.yield(false)
    try await changes.reached(2)
    expect(changes.values, equals: [true, false])
    continuation.yield(true)
    continuation.finish()
    try await changes.reached(3)
    #expect(specification.isSatisfied(in: self.context))
  }

  @Test
  func `A sequence that throws leaves its last value`() async throws {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Bool.self)
    let specification = AsyncSequenceRunSpecification(sequence: stream, initialValue: false)
    let changes = ChangeRecorder()
    let subscription = specification.subscribe(in: self.context) { changes.note(true) }
    defer { subscription.cancel() }
    continuation.yield(true)
    continuation.finish(throwing: Refused())
    try await changes.reached(1)
    #expect(specification.isSatisfied(in: self.context))
  }

  @Test
  func `A sequence is iterated no longer than its specification lives`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let ended = Gate()
    continuation.onTermination = { _ in ended.open() }
    do {
      let specification = AsyncSequenceRunSpecification(sequence: stream, initialValue: true)
      #expect(specification.isSatisfied(in: self.context))
    }
    try await ended.wait()
  }

  @Test
  func `A store runs again when its sequence yields true`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let script = IntScript()
    let store = IntStore.detached(
      query: script.query().rerunOnChange(of: .observing(sequence: stream, initialValue: false))
    )
    let subscription = store.subscribe(with: IntRecorder().handler)
    defer { subscription.cancel() }
    continuation.yield(true)
    try await script.next().succeed(1)
  }

  @Test
  func `An observer of a sequence that an earlier one cancels is not called any more`() async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
    let specification: AsyncSequenceRunSpecification = .observing(sequence: stream, initialValue: false)
    let (second, called) = (Box<OperationSubscription?>(nil), Gate())
    let subscriptions = [
      specification.subscribe(in: self.context) { second.value?.cancel() },
      specification.subscribe(in: self.context) { Issue.record("It was cancelled before.") },
      specification.subscribe(in: self.context) { called.open() },
    ]
    second.value = subscriptions[1]
    continuation.yield(true)
    try await called.wait()
    OperationSubscription.combined(subscriptions).cancel()
  }
}

private struct NumberIsPositive: OperationRunSpecification, Sendable {
  func isSatisfied(in context: OperationContext) -> Bool { context[NumberKey.self] > 0 }
}

/// Writes down changes, and lets a test wait for them.
private final class ChangeRecorder: Sendable {
  private let state = Mutex<(values: [Bool], waiting: (count: Int, gate: Gate)?)>(([], nil))

  var values: [Bool] { self.state.withLock { $0.values } }

  func note(_ value: Bool) {
    let gate = self.state.withLock { state -> Gate? in
      state.values.append(value)
      return state.waiting.flatMap { state.values.count >= $0.count ? $0.gate : nil }
    }
    gate?.open()
  }

  func reached(_ count: Int) async throws {
    let gate = Gate()
    let isThere = self.state.withLock { state in
      state.waiting = (count, gate)
      return state.values.count >= count
    }
    if isThere { gate.open() }
    try await gate.wait()
  }
}
