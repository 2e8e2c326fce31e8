/// A ``Broadcast`` with a source that runs only while there are subscribers, such as a watch on a file.
///
/// A new subscriber receives the last value that was sent, before `subscribe` returns. It receives no earlier value,
/// even if other subscribers have yet to receive one. A task starts and stops the source and delivers its values, one
/// step after the other, never on the thread that subscribes, cancels or sends. So a thread that watches the system
/// runs no code of subscribers, and cancelling with a lock held does not block. A subscription that is cancelled
/// before that task runs does not start the source.
public final class OnDemandBroadcast<Value: Sendable>: Sendable {
  /// Starts a source, which sends until the subscription is cancelled.
  public typealias Start = @Sendable (_ send: @escaping @Sendable (Value) -> Void) -> OperationSubscription

  fileprivate struct State {
    var subscriberCount = 0
    /// The subscription to the running source; nil while the source is stopped.
    var source: OperationSubscription?
    /// Whether the source is being started.
    var isStarting = false
    /// Whether the source is being stopped.
    var isStopping = false
    /// Whether the current value is being read for the first subscriber.
    var isPriming = false
    /// Whether values are to be delivered.
    var hasValues = false
    /// Whether a task performs steps.
    var isWorking = false
    /// The callers of ``OnDemandBroadcast/settled()``.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  fileprivate enum Step {
    case deliver
    case start
    case stop(OperationSubscription)
    case finish([CheckedContinuation<Void, Never>])
  }

  private let state = Locked(State())
  private let broadcast: Broadcast<Value>
  private let current: @Sendable () -> Value
  private let start: Start

  /// Creates a broadcast with a stopped source.
  ///
  /// - Parameters:
  ///   - current: Returns the current value while the source is stopped. Called by this initializer, too.
  ///   - start: Starts the source, in a task of its own.
  public init(current: @escaping @Sendable () -> Value, start: @escaping Start) {
    self.broadcast = Broadcast(current())
    self.current = current
    self.start = start
  }

  /// The last value that was sent.
  public var value: Value { self.broadcast.value }

  /// Delivers a value after all values sent earlier. It is the current value when this returns.
  ///
  /// - Parameter value: The new value. A task delivers it, so this may be called with a lock held.
  public func send(_ value: Value) {
    guard self.broadcast.enqueue(value) else { return }
    self.work { $0.hasValues = true }
  }

  /// Adds a handler, and calls it with the current value before this returns.
  ///
  /// - Parameter receive: Called with later values by a task, with no lock held.
  /// - Returns: The subscription. The source stops when the last one was cancelled or dropped.
  public func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> OperationSubscription {
    let isFirst = self.state.withLock { state in
      state.subscriberCount += 1
      guard state.subscriberCount == 1, state.isIdle else { return false }
      state.isPriming = true
      return true
    }
    if isFirst {
      // A value that is sent meanwhile is newer.
      let version = self.broadcast.version
      let hasValues = self.broadcast.enqueue(self.current(), after: version)
      self.state.withLock { state in
        state.isPriming = false
        state.hasValues = state.hasValues || hasValues
      }
    }
    let subscription = self.broadcast.subscribe(receive)
    self.work { _ in }
    return OperationSubscription {
      subscription.cancel()
      self.work { $0.subscriberCount -= 1 }
    }
  }

  /// Waits until all pending work is done: the source is running or stopped, and all values are delivered.
  ///
  /// For tests, which send and then look at what handlers have received.
  public func settled() async {
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
      case .deliver:
        self.broadcast.deliver()
      case .start:
        let source = self.start { [weak self] in self?.send($0) }
        self.state.withLock { state in
          state.source = source
          state.isStarting = false
        }
      case .stop(let source):
        source.cancel()
        self.state.withLock { $0.isStopping = false }
      case .finish(let waiters):
        for waiter in waiters { waiter.resume() }
        return
      }
    }
  }
}

extension OnDemandBroadcast.State {
  /// Whether the source is stopped, so that it sends nothing while the caller reads the current value.
  fileprivate var isIdle: Bool { self.source == nil && !self.isStarting && !self.isStopping && !self.isPriming }

  fileprivate var hasWork: Bool {
    self.hasValues || !self.waiters.isEmpty || (self.subscriberCount > 0) != (self.source != nil)
  }

  fileprivate mutating func next() -> OnDemandBroadcast.Step {
    if self.hasValues {
      self.hasValues = false
      return .deliver
    }
    if self.subscriberCount > 0, self.source == nil, !self.isPriming {
      self.isStarting = true
      return .start
    }
    if self.subscriberCount == 0, let source = self.source {
      self.source = nil
      self.isStopping = true
      return .stop(source)
    }
    self.isWorking = false
    // The subscriber that reads the current value starts the source then.
    if self.isPriming { return .finish([]) }
    defer { self.waiters = [] }
    return .finish(self.waiters)
  }
}
