/// A broadcast whose source runs only while the broadcast has subscribers.
///
/// A subscriber receives the current value at once. A task starts and stops the source and delivers its values, one
/// step after the other, never on the thread that subscribes, cancels or sends. So a thread that watches the system
/// runs no foreign code, and cancelling with a lock held does not block. A subscription that is cancelled at once does
/// not start the source.
package final class OnDemandBroadcast<Value: Sendable>: Sendable {
  /// Starts a source, which sends until the subscription is cancelled.
  package typealias Start = @Sendable (_ send: @escaping @Sendable (Value) -> Void) -> OperationSubscription

  fileprivate struct State {
    var subscriberCount = 0
    /// The subscription to the running source; nil while the source is stopped.
    var source: OperationSubscription?
    /// Whether the source is being started.
    var isStarting = false
    /// Whether the first subscriber is reading the current value.
    var isPriming = false
    var eventQueue: [Value] = []
    var isWorking = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  fileprivate enum Step {
    case deliver(Value)
    case start
    case stop(OperationSubscription)
    case finish([CheckedContinuation<Void, Never>])
  }

  private let state = Locked(State())
  private let broadcast: Broadcast<Value>
  private let current: @Sendable () -> Value
  private let start: Start

  /// Creates a broadcast.
  ///
  /// - Parameters:
  ///   - current: Returns the current value while the source is stopped. Called by this initializer, too.
  ///   - start: Starts the source.
  package init(current: @escaping @Sendable () -> Value, start: @escaping Start) {
    self.broadcast = Broadcast(current())
    self.current = current
    self.start = start
  }

  /// The last value that was delivered.
  package var value: Value { self.broadcast.value }

  /// Delivers a value after all values sent earlier.
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

  /// Waits until all work begun so far is done: the source is running or stopped, and all values are delivered.
  package func settled() async {
    await withCheckedContinuation { continuation in
      self.work { $0.waiters.append(continuation) }
    }
  }
}

// MARK: - Working

extension OnDemandBroadcast {
  /// Changes the state, and starts a task for the resulting work unless one is running.
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
      case .finish(let waiters):
        for waiter in waiters { waiter.resume() }
        return
      }
    }
  }
}

extension OnDemandBroadcast.State {
  /// Whether the source is stopped and no value is pending, so that only the caller can change the value.
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
    return .finish(self.waiters)
  }
}
