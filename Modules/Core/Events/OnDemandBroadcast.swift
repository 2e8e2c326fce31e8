/// A broadcast whose source is at work while somebody subscribes, and not longer.
///
/// Subscribers hear the current value at once. The source is started and stopped, and what it sends is delivered, one after
/// the other in a task, never on the thread that subscribes, cancels or sends: a thread that watches the system runs nobody
/// else's code, and who cancels while holding a lock waits for nobody. A subscription of a moment starts nothing.
package final class OnDemandBroadcast<Value: Sendable>: Sendable {
  /// Starts a source, which sends until the subscription is cancelled.
  package typealias Start = @Sendable (_ send: @escaping @Sendable (Value) -> Void) -> OperationSubscription

  fileprivate struct State {
    var subscriberCount = 0
    /// The source, while it is at work.
    var source: OperationSubscription?
    /// Whether the source is being started.
    var isStarting = false
    /// Whether somebody looks for the value with which to begin.
    var isPriming = false
    var eventQueue: [Value] = []
    var isWorking = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  fileprivate enum Step {
    case deliver(Value)
    case start
    case stop(OperationSubscription)
    case rest([CheckedContinuation<Void, Never>])
  }

  private let state = Locked(State())
  private let broadcast: Broadcast<Value>
  private let current: @Sendable () -> Value
  private let start: Start

  /// - Parameters:
  ///   - current: The value with which to begin when the source has not been at work. It is asked at once.
  ///   - start: Starts the source.
  package init(current: @escaping @Sendable () -> Value, start: @escaping Start) {
    self.broadcast = Broadcast(current())
    self.current = current
    self.start = start
  }

  /// The value that was delivered last.
  package var value: Value { self.broadcast.value }

  /// Delivers a value after those that were sent before.
  package func send(_ value: Value) {
    self.work { $0.eventQueue.append(value) }
  }

  package func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    let isFirst = self.state.withLock { state in
      state.subscriberCount += 1
      guard state.subscriberCount == 1, state.isIdle else { return false }
      state.isPriming = true
      return true
    }
    if isFirst {
      self.broadcast.send(self.current())
      self.state.withLock { $0.isPriming = false }
    }
    let subscription = self.broadcast.subscribe(receive)
    self.work { _ in }
    return OperationSubscription {
      subscription.cancel()
      self.work { $0.subscriberCount -= 1 }
    }
  }

  /// Waits until all that was begun by then is done: the source is at work or stopped, and what was sent is delivered.
  package func settled() async {
    await withCheckedContinuation { continuation in
      self.work { $0.waiters.append(continuation) }
    }
  }
}

// MARK: - Working

extension OnDemandBroadcast {
  /// Changes the state, and has done what follows from that.
  private func work(_ change: (inout State) -> Void) {
    let isNeeded = self.state.withLock { state in
      change(&state)
      let isNeeded = !state.isWorking && state.hasWork
      if isNeeded { state.isWorking = true }
      return isNeeded
    }
    if isNeeded { Task { self.work() } }
  }

  private func work() {
    while true {
      switch self.state.withLock({ $0.next() }) {
      case .deliver(let value):
        self.broadcast.send(value)
      case .start:
        let source = self.start { [weak self] in self?.send($0) }
        self.state.withLock { state in
          state.source = source
          state.isStarting = false
        }
      case .stop(let source):
        source.cancel()
      case .rest(let waiters):
        for waiter in waiters { waiter.resume() }
        return
      }
    }
  }
}

extension OnDemandBroadcast.State {
  /// Whether nobody but the one who asks can change the value.
  fileprivate var isIdle: Bool { self.source == nil && !self.isStarting && !self.isPriming && self.eventQueue.isEmpty }

  fileprivate var hasWork: Bool {
    !self.eventQueue.isEmpty || !self.waiters.isEmpty || (self.subscriberCount > 0) != (self.source != nil)
  }

  fileprivate mutating func next() -> OnDemandBroadcast.Step {
    if !self.eventQueue.isEmpty { return .deliver(self.eventQueue.removeFirst()) }
    if self.subscriberCount > 0, self.source == nil, !self.isPriming {
      self.isStarting = true
      return .start
    }
    if self.subscriberCount == 0, let source = self.source {
      self.source = nil
      return .stop(source)
    }
    self.isWorking = false
    defer { self.waiters = [] }
    return .rest(self.waiters)
  }
}
