import OperationCore
import OperationTesting
import Synchronization

/// A value with handlers, which breaks a rule of run specifications or observers.
final class BrokenSource<Value: Equatable & Sendable>: Sendable {
  enum Fault: Equatable, Sendable {
    case none
    case registry(Registry<@Sendable (Value) -> Void>.Fault)
    /// Handlers are called before the value changes.
    case early
    /// Each second value is not delivered.
    case skips
    /// Each seventh read returns the other value.
    case forgets(other: Value)
    /// A new handler does not receive the current value.
    case silentAtFirst
    /// The previous value is delivered once more before each value.
    case repeats
    /// A value that comes in a handler is delivered at once.
    case nests
  }

  private struct State {
    var value: Value
    var queue: [Value] = []
    var isDelivering = false
    var sendCount = 0
    var readCount = 0
  }

  private let fault: Fault
  private let state: Mutex<State>
  private let handlers: Registry<@Sendable (Value) -> Void>

  init(_ value: Value, fault: Fault = .none) {
    self.fault = fault
    self.state = Mutex(State(value: value))
    if case .registry(let fault) = fault {
      self.handlers = Registry(fault)
    } else {
      self.handlers = Registry(.none)
    }
  }

  var value: Value {
    self.state.withLock { state in
      state.readCount += 1
      if case .forgets(let other) = self.fault, state.readCount.isMultiple(of: 7) { return other }
      return state.value
    }
  }

  func subscribe(_ handler: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    self.handlers.add(handler)
  }

  func subscribeToAll(_ handler: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    if self.fault != .silentAtFirst { handler(self.value) }
    return self.subscribe(handler)
  }

  func send(_ value: Value) {
    if self.fault == .early { self.deliver(value) }
    let isFirst = self.state.withLock { state in
      state.sendCount += 1
      if self.fault == .repeats { state.queue.append(state.value) }
      state.value = value
      if self.fault != .early, self.fault != .skips || !state.sendCount.isMultiple(of: 2) { state.queue.append(value) }
      if self.fault == .nests { return true }
      defer { state.isDelivering = true }
      return !state.isDelivering
    }
    guard isFirst else { return }
    while let value = self.next() { self.deliver(value) }
  }

  private func next() -> Value? {
    self.state.withLock { state in
      state.isDelivering = !state.queue.isEmpty
      return state.queue.isEmpty ? nil : state.queue.removeFirst()
    }
  }

  private func deliver(_ value: Value) {
    self.handlers.use { $0(value) }
  }
}

/// A run specification with the value of its source.
struct BrokenSpecification: OperationRunSpecification, Sendable {
  let source: BrokenSource<Bool>

  func isSatisfied(in context: OperationContext) -> Bool { self.source.value }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    self.source.subscribe { _ in onChange() }
  }

  /// A specification and its setter, as the check takes them.
  static func checked(
    _ fault: BrokenSource<Bool>.Fault
  ) -> (specification: BrokenSpecification, set: (@Sendable (Bool) -> Void)?) {
    let source = BrokenSource(false, fault: fault)
    return (BrokenSpecification(source: source), { source.send($0) })
  }
}

extension CheckedObserver<Int> {
  /// An observer with a fault.
  static func broken(_ fault: BrokenSource<Int>.Fault, current: Int? = nil) -> CheckedObserver {
    let source = BrokenSource(0, fault: fault)
    return CheckedObserver(
      subscribe: { source.subscribeToAll($0) },
      current: { current ?? source.value },
      send: { source.send($0) }
    )
  }
}
