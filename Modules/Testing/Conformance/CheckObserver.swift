public import OperationCore
public import Testing

/// An observer, described by closures for ``checkObserver(sending:_:except:within:sourceLocation:_:)``.
public struct CheckedObserver<Value: Equatable & Sendable>: Sendable {
  /// Subscribes to the observer.
  public typealias Subscribe = @Sendable (@escaping @Sendable (Value) -> Void) -> OperationSubscription

  let subscribe: Subscribe
  let send: @Sendable (Value) -> Void
  let current: (@Sendable () -> Value)?

  /// Describes an observer.
  ///
  /// - Parameters:
  ///   - subscribe: Subscribes to the observer: `{ observer.subscribe(with: $0) }`.
  ///   - current: Returns the current value without a subscription; nil if the observer has no such property.
  ///   - send: Makes the observer deliver a value, possibly later. It may be called on any thread.
  public init(
    subscribe: @escaping Subscribe,
    current: (@Sendable () -> Value)? = nil,
    send: @escaping @Sendable (Value) -> Void
  ) {
    self.subscribe = subscribe
    self.current = current
    self.send = send
  }
}

/// Checks that an observer follows the rules that conditions rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkObserver(sending: [NetworkConnectionStatus.disconnected, .connected]) {
///     let observer = MockNetworkObserver()
///     return CheckedObserver(
///       subscribe: { observer.subscribe(with: $0) },
///       current: { observer.currentStatus },
///       send: { observer.send(status: $0) }
///     )
///   }
/// }
/// ```
///
/// It takes closures, so that it works for observers of the network, of activity, of memory pressure, and for your own.
///
/// ``ObserverRule`` lists the rules: a handler receives the current value at once (`current`), which is the one
/// that can be read (`reading`), and then all changes (`changes`) in order (`order`, `nesting`). Subscribers are called
/// (`subscribers`) independently of each other (`independence`), not after they were cancelled (`cancellation`,
/// `release`), and with no lock held (`unlocked`). They may use the observer themselves (`reentrancy`), and on several
/// threads (`threads`).
///
/// - Parameters:
///   - values: Values to send, in this order and then from the beginning. There must be at least two, each different
///     from the previous one, and the first one different from the last.
///   - rules: The rules to check.
///   - exceptions: Rules that the observer breaks on purpose: ``ObserverRule/current`` if it only reports changes.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Makes an observer, whose current value is not the first one of `values`. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkObserver<Value: Equatable & Sendable>(
  sending values: [Value],
  _ rules: some Sequence<ObserverRule> = ObserverRule.allCases,
  except exceptions: Set<ObserverRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: () async throws -> CheckedObserver<Value>
) async throws {
  guard values.count >= 2, zip(values, values.dropFirst() + values.prefix(1)).allSatisfy({ $0 != $1 }) else {
    Issue.record(
      """
      An observer cannot be checked with the values \(values). Pass at least two, each different from the previous one, \
      and the first one different from the last.
      """,
      sourceLocation: sourceLocation
    )
    return
  }
  for rule in rules where !exceptions.contains(rule) {
    let observer = try await make()
    let report = RuleReport("observer", rule: rule, within: limit, at: sourceLocation)
    try await report.perform {
      try await ObserverCheck(observer: observer, values: values, report: report).perform(rule)
      if rule == .release { try await checkEnd(of: make, report) }
    }
  }
}

/// A subscription may outlive all other references to its observer. It then releases its handler all the same.
private func checkEnd<Value>(of make: () async throws -> CheckedObserver<Value>, _ report: RuleReport) async throws {
  let lifetimes = LifetimeTracker()
  var subscription: OperationSubscription? = try await make().subscribe(holding: lifetimes.token())
  withExtendedLifetime(subscription) {}
  subscription = nil
  _ = try await report.waits("Release the handler in the closure of the subscription.") {
    try await lifetimes.release(
      within: report.limit,
      of: "the handler to be released with a subscription that was the last reference to the observer"
    )
  }
}

extension CheckedObserver {
  fileprivate func subscribe(holding token: LifetimeTracker.Token) -> OperationSubscription {
    self.subscribe { _ in token.touch() }
  }
}

private struct ObserverCheck<Value: Equatable & Sendable>: Sendable {
  let observer: CheckedObserver<Value>
  let values: [Value]
  let report: RuleReport

  private var limit: Duration { self.report.limit }

  func perform(_ rule: ObserverRule) async throws {
    switch rule {
    case .current: try await self.checkCurrent()
    case .reading: self.checkReading()
    case .changes: try await self.checkChanges()
    case .order: try await self.checkOrder()
    case .subscribers: try await self.subscriptionCheck.checkSubscribers(areInOrder: true)
    case .independence: try await self.subscriptionCheck.checkIndependence()
    case .cancellation: try await self.subscriptionCheck.checkCancellation()
    case .release: try await self.subscriptionCheck.checkRelease()
    case .unlocked: try await self.subscriptionCheck.checkLocks()
    case .reentrancy: try await self.subscriptionCheck.checkReentrancy()
    case .nesting: try await self.checkNesting()
    case .threads: try await self.checkThreads()
    }
  }

  private var subscriptionCheck: SubscriptionCheck { SubscriptionCheck(source: self.source(), report: self.report) }

  private func source(sending sent: CallCounter = CallCounter()) -> ChangeSource {
    ChangeSource(handler: "the handler") { [observer] handler in
      observer.subscribe { _ in handler() }
    } change: { [observer, values] in
      let number = sent.count
      sent.note()
      observer.send(values[number % values.count])
    } read: { [observer] in
      _ = observer.current?()
    }
  }
}

// MARK: - The checks

extension ObserverCheck {
  private typealias Received = AwaitableState<[Value]>

  private func subscribe(_ received: Received) -> OperationSubscription {
    self.observer.subscribe { value in received.change { $0.append(value) } }
  }

  /// The values without those that repeat the previous one.
  private static func changes(in values: some Sequence<Value>) -> [Value] {
    values.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }

  private func waits(
    for received: Received,
    toEndWith value: Value,
    after count: Int,
    _ remedy: String
  ) async throws -> Bool {
    try await self.report.waits(remedy) {
      try await received.wait(.cancellable(self.limit)) { received in
        "the value \(value) to be delivered; after it was sent, \(received.dropFirst(count)) came"
      } until: { received in
        received.count > count && received.last == value ? () : nil
      }
    }
  }

  private func checkCurrent() async throws {
    let first = Received([])
    self.observer.send(self.values[0])
    let subscription = self.subscribe(first)
    defer { subscription.cancel() }
    guard self.expectCurrent(self.values[0], in: first, "without another subscriber") else { return }
    let count = first.current.count
    self.observer.send(self.values[1])
    let remedy = "Deliver each change."
    guard try await self.waits(for: first, toEndWith: self.values[1], after: count, remedy) else { return }
    let second = Received([])
    self.subscribe(second).cancel()
    _ = self.expectCurrent(self.values[1], in: second, "beside another subscriber")
  }

  private func expectCurrent(_ value: Value, in received: Received, _ moment: String) -> Bool {
    let values = received.current
    let isKept = !values.isEmpty && values.allSatisfy { $0 == value }
    self.report.expect(
      isKept,
      "the current value was \(value), and a new handler \(moment) had received \(values) when `subscribe` returned. "
        + "Call it with the current value before `subscribe` returns."
    )
    return isKept
  }

  private func checkReading() {
    guard let current = self.observer.current else { return }
    for value in self.values {
      self.observer.send(value)
      let received = Received([])
      self.subscribe(received).cancel()
      // An observer that only reports changes has nothing to compare with.
      guard let last = received.current.last else { continue }
      let read = current()
      self.report.expect(
        read == last,
        "the observer returns \(read) as its current value, and a new handler receives \(last). Read both from one place."
      )
    }
  }

  private func checkChanges() async throws {
    let received = Received([])
    let subscription = self.subscribe(received)
    defer { subscription.cancel() }
    for value in self.values + self.values {
      let count = received.current.count
      self.observer.send(value)
      guard try await self.waits(for: received, toEndWith: value, after: count, "Deliver each change.") else { return }
    }
  }

  private func checkOrder() async throws {
    let received = Received([])
    let subscription = self.subscribe(received)
    defer { subscription.cancel() }
    let count = received.current.count
    // An observer may skip a value if the next one follows at once, but not the last one, which is sent alone.
    let sent = self.values + self.values.prefix(2)
    let remedy = "Deliver the values one after the other, in the order in which they came."
    for value in sent.dropLast() { self.observer.send(value) }
    guard try await self.waits(for: received, toEndWith: self.values[0], after: count, remedy) else { return }
    let beforeLast = received.current.count
    self.observer.send(self.values[1])
    guard try await self.waits(for: received, toEndWith: self.values[1], after: beforeLast, remedy) else { return }
    var rest = sent[...]
    let delivered = Self.changes(in: received.current.dropFirst(count))
    let isInOrder = delivered.allSatisfy { value in
      rest = rest.drop { $0 != value }
      return !rest.isEmpty
    }
    self.report.expect(isInOrder, "\(sent) were sent, and \(delivered) were delivered. \(remedy)")
  }

  private func checkNesting() async throws {
    let (first, second) = (Received([]), Received([]))
    let (outer, inner) = (self.values[0], self.values[1])
    let isArmed = AtomicFlag(false)
    let probe = LockProbe(within: self.limit) { [observer] in observer.subscribe { _ in }.cancel() }
    let subscriptions = [
      self.observer.subscribe { [observer] value in
        first.change { $0.append(value) }
        guard value == outer, isArmed.set(false) else { return }
        // With a lock held, sending here would never return. Another rule reports that.
        if probe.probe("") { observer.send(inner) }
      },
      self.subscribe(second),
    ]
    defer { for subscription in subscriptions { subscription.cancel() } }
    let counts = [first, second].map { $0.current.count }
    _ = isArmed.set(true)
    self.observer.send(outer)
    let remedy = "Queue a value that comes while handlers are called, and deliver it after the current one."
    for (received, count) in zip([first, second], counts) {
      guard try await self.waits(for: received, toEndWith: inner, after: count, remedy) else { return }
    }
    let delivered = Self.changes(in: second.current.dropFirst(counts[1]))
    self.report.expect(
      delivered == [outer, inner],
      "a handler for \(outer) sent \(inner), and the handler after it received \(delivered). \(remedy)"
    )
  }

  private func checkThreads() async throws {
    let (received, sent) = (Received([]), CallCounter())
    let subscription = self.subscribe(received)
    defer { subscription.cancel() }
    var source = self.source(sending: sent)
    source.settle = { [values, limit = self.limit] in
      let last = values[(sent.count - 1) % values.count]
      try await received.wait(.cancellable(limit)) { received in
        "the value \(last) to be delivered, which was sent last; the last delivered one was \(received.suffix(1))"
      } until: { received in
        received.last == last ? () : nil
      }
    }
    try await SubscriptionCheck(source: source, report: self.report).checkThreads()
  }
}
