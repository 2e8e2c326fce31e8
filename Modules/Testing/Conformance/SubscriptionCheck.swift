internal import OperationCore
internal import Synchronization

/// A source of changes that calls handlers until their subscriptions are cancelled.
struct ChangeSource: Sendable {
  /// The name of the closure that is called: `onChange`.
  let handler: String
  let subscribe: @Sendable (@escaping @Sendable () -> Void) -> OperationSubscription
  /// Makes the next change.
  let change: @Sendable () -> Void
  /// Reads the current value.
  let read: @Sendable () -> Void
  /// Waits until the last change is delivered, so that the next one cannot restore the value that was last delivered.
  var settle: @Sendable () async throws -> Void = {}
}

/// The checks that are the same for all sources of changes.
struct SubscriptionCheck: Sendable {
  let source: ChangeSource
  let report: RuleReport

  private var limit: Duration { self.report.limit }

  private func subscribe(_ counter: CallCounter) -> OperationSubscription {
    self.source.subscribe { counter.note() }
  }

  /// Makes a change, and waits until each counter has counted it. Returns false if that breaks the rule.
  private func changeReaches(
    _ counters: [CallCounter],
    _ which: String,
    within limit: Duration? = nil,
    _ remedy: String
  ) async throws -> Bool {
    let counts = counters.map(\.count)
    self.source.change()
    return try await self.report.waits(remedy) {
      for (counter, count) in zip(counters, counts) {
        try await counter.calls(
          atLeast: count + 1,
          within: limit ?? self.limit,
          "a call of \(self.source.handler) of \(which) after a change"
        )
      }
    }
  }
}

// MARK: - The subscribers

extension SubscriptionCheck {
  /// Each of many subscribers is called for a change, in the order of their subscriptions if `areInOrder` is true.
  func checkSubscribers(areInOrder: Bool) async throws {
    let calls = Mutex<[Int]>([])
    let counters = (0..<100).map { _ in CallCounter() }
    let subscriptions = counters.enumerated().map { number, counter in
      self.source.subscribe {
        calls.withLock { $0.append(number) }
        counter.note()
      }
    }
    defer { for subscription in subscriptions { subscription.cancel() } }
    calls.withLock { $0 = [] }
    guard
      try await self.changeReaches(counters, "each of 100 subscriptions", "Keep and call all of them.")
    else { return }
    guard areInOrder else { return }
    let order = calls.withLock { Array($0.prefix(100)) }
    self.report.expect(
      order == Array(0..<100),
      "100 handlers were not called in the order of their subscriptions, but beginning with \(order.prefix(5)). "
        + "Keep them in the order of their subscriptions."
    )
  }

  /// Cancelling one subscription leaves the others.
  func checkIndependence() async throws {
    let counters = (0..<3).map { _ in CallCounter() }
    let subscriptions = counters.map { self.subscribe($0) }
    defer { for subscription in subscriptions { subscription.cancel() } }
    subscriptions[1].cancel()
    subscriptions[1].cancel()
    _ = try await self.changeReaches(
      [counters[0], counters[2]],
      "the subscriptions before and after one that was cancelled",
      "Remove only the handler of the cancelled subscription."
    )
  }

  /// A handler is not called after its subscription was cancelled, or after its last reference was dropped.
  func checkCancellation() async throws {
    for isDropped in [false, true] {
      let counters = (0..<3).map { _ in CallCounter() }
      let others = [self.subscribe(counters[0])]
      var subscription: OperationSubscription? = self.subscribe(counters[1])
      let later = [self.subscribe(counters[2])]
      defer { for subscription in others + later { subscription.cancel() } }
      guard
        try await self.changeReaches(counters, "three subscriptions", "Call it for each change.")
      else { return }
      if !isDropped { subscription?.cancel() }
      subscription = nil
      let witnesses = [counters[0], counters[2]]
      var count = 0
      for number in 1...3 {
        guard
          try await self.changeReaches(witnesses, "the remaining subscriptions", "Keep the others.")
        else { return }
        // A call that had begun on another thread when the subscription was cancelled is over by now.
        if number == 1 { count = counters[1].count }
      }
      let calls = counters[1].count - count
      self.report.expect(
        calls == 0,
        "\(self.source.handler) was called \(calls) times after its subscription was \(isDropped ? "dropped" : "cancelled"). "
          + "Remove the handler in the closure of the subscription."
      )
    }
  }
}

// MARK: - Memory

extension SubscriptionCheck {
  /// Cancelling releases the handler.
  func checkRelease() async throws {
    for isDropped in [false, true] {
      let lifetimes = LifetimeTracker()
      let counter = CallCounter()
      var subscription: OperationSubscription? = self.subscribe(counter, holding: lifetimes.token())
      let witness = CallCounter()
      let other = self.subscribe(witness)
      defer { other.cancel() }
      guard
        try await self.changeReaches([counter, witness], "two subscriptions", "Call it for each change.")
      else { return }
      if !isDropped { subscription?.cancel() }
      subscription = nil
      _ = try await self.report.waits("Release the handler in the closure of the subscription.") {
        try await lifetimes.release(
          within: self.limit,
          of: "\(self.source.handler) to be released after its subscription was \(isDropped ? "dropped" : "cancelled")"
        )
      }
    }
  }

  // A separate function, so that no frame of the check retains the token.
  private func subscribe(_ counter: CallCounter, holding token: LifetimeTracker.Token) -> OperationSubscription {
    self.source.subscribe {
      token.touch()
      counter.note()
    }
  }
}

// MARK: - Locks

extension SubscriptionCheck {
  private func lockProbe() -> LockProbe {
    LockProbe(within: self.limit) { [source = self.source] in
      source.read()
      source.subscribe {}.cancel()
    }
  }

  /// The handler is called, and released, with no lock held.
  func checkLocks() async throws {
    let probe = self.lockProbe()
    let counter = CallCounter()
    let subscription = self.subscribe(counter, probing: probe)
    defer { subscription.cancel() }
    guard
      try await self.changeReaches(
        [counter],
        "a subscription",
        within: self.report.longLimit,
        "Call it for each change."
      )
    else { return }
    subscription.cancel()
    self.expectNoFinding(of: probe)
  }

  private func subscribe(_ counter: CallCounter, probing probe: LockProbe) -> OperationSubscription {
    let handler = self.source.handler
    let released = ReleaseProbe { probe.probe("\(handler) was released") }
    return self.source.subscribe {
      released.touch()
      probe.probe("\(handler) was called")
      counter.note()
    }
  }

  private func expectNoFinding(of probe: LockProbe) {
    let finding = probe.finding ?? ""
    self.report.expect(
      probe.finding == nil,
      "\(finding) with a lock held: another thread could not read or subscribe for \(self.limit). "
        + "Take the handlers out of the lock, and call and release them after it."
    )
  }

  /// A handler may read the value, subscribe, and cancel its own subscription.
  func checkReentrancy() async throws {
    let probe = self.lockProbe()
    let (own, done, nested, witness) = (CallCounter(), CallCounter(), CallCounter(), CallCounter())
    let subscriptions = Mutex<[OperationSubscription]>([])
    let isArmed = AtomicFlag(false)
    let subscription = self.source.subscribe { [source = self.source] in
      own.note()
      guard isArmed.set(false) else { return }
      // Counted at the end, which the check waits for.
      defer { done.note() }
      guard probe.probe("\(source.handler) was called") else { return }
      source.read()
      let inner = source.subscribe { nested.note() }
      let previous = subscriptions.withLock { kept in
        defer { kept = [inner] }
        return kept
      }
      for subscription in previous { subscription.cancel() }
    }
    subscriptions.withLock { $0 = [subscription] }
    let other = self.subscribe(witness)
    defer { other.cancel() }
    defer { for subscription in subscriptions.withLock({ $0 }) { subscription.cancel() } }
    _ = isArmed.set(true)
    let remedy = "Call a copy of the handlers, so that one may come or go during the calls."
    let which = "a subscription behind one that cancels itself"
    let limit = self.report.longLimit
    guard try await self.changeReaches([done, witness], which, within: limit, remedy) else { return }
    guard probe.finding == nil else { return self.expectNoFinding(of: probe) }
    var count = 0
    for number in 1...2 {
      let which = "a subscription that was made in a handler"
      guard try await self.changeReaches([nested, witness], which, remedy) else { return }
      // A call that had begun on another thread when the subscription was cancelled is over by now.
      if number == 1 { count = own.count }
    }
    self.report.expect(
      own.count == count,
      "\(self.source.handler) was called \(own.count - count) times after it had cancelled its own subscription. \(remedy)"
    )
  }
}

// MARK: - Threads

extension SubscriptionCheck {
  /// Several threads may subscribe, cancel and read at the same time.
  func checkThreads() async throws {
    let lifetimes = LifetimeTracker()
    try await self.useOnThreads(lifetimes)
    _ = try await self.report.waits("Guard what threads share by one lock.") {
      try await lifetimes.release(within: self.limit, of: "the handlers of all cancelled subscriptions to be released")
    }
  }

  private func useOnThreads(_ lifetimes: LifetimeTracker) async throws {
    let kept = Mutex<[OperationSubscription]>([])
    let counters = (0..<4).map { _ in CallCounter() }
    try await Threads.call(counters.count, within: self.limit) { [source = self.source] number in
      for round in 0..<50 {
        let token = lifetimes.token()
        let subscription = source.subscribe {
          token.touch()
          if round == 0 { counters[number].note() }
        }
        source.read()
        if number == 0 { source.change() }
        if round == 0 { kept.withLock { $0.append(subscription) } } else { subscription.cancel() }
      }
    }
    defer { for subscription in kept.withLock({ $0 }) { subscription.cancel() } }
    try await self.source.settle()
    _ = try await self.changeReaches(
      counters,
      "each of 4 subscriptions that were made on several threads at the same time",
      "Guard what threads share by one lock."
    )
  }
}
