public import OperationCore
public import Testing

/// Checks that a controller follows the rules that stores rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkController { query in
///     let feed = Feed()
///     return (query.controlled(by: FollowingFeed(feed)), { feed.send(1) })
///   }
/// }
/// ```
///
/// ``ControllerRule`` lists the rules: a controller starts once, with its store (`start`), works for several
/// stores (`stores`) independently of each other (`independence`), and ends with its store (`cancellation`, `release`);
/// it acts with no lock held (`unlocked`); and stores may come and go while it acts (`reentrancy`) and on several
/// threads (`threads`).
///
/// The stores have a subscriber each. Runs of the query return a value at once.
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the controller breaks on purpose.
///   - context: The initial context of the stores, made anew for each rule. By default its delays take no time.
///   - limit: The longest time for each wait; nil for ten seconds, unless ``Testing/Trait/waitLimit(_:)`` is set.
///   - sourceLocation: Where issues are reported.
///   - make: Attaches the controller to a query, and returns it with a closure that makes the controller act: each call
///     has to give each store one new value or error, by setting it or by a run. Called once for each rule. The closure
///     may be called on any thread, and the effect may come later.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of `make`.
public func checkController<Controlled: StatefulOperationRequest<QueryState<Int, any Error>>>(
  _ rules: some Sequence<ControllerRule> = ControllerRule.allCases,
  except exceptions: Set<ControllerRule> = [],
  in context: @autoclosure () -> OperationContext = .withoutDelays,
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ make: (ScriptedQuery<Int, any Error>) async throws -> (operation: Controlled, act: @Sendable () -> Void)
) async throws where Controlled.Value == Int, Controlled.Failure == any Error {
  for rule in rules where !exceptions.contains(rule) {
    let script = OperationScript<Int, any Error>(default: .value(1))
    let (operation, act) = try await make(script.query())
    let context = context()
    let report = RuleReport("controller", rule: rule, within: limit, at: sourceLocation)
    try await report.perform {
      let check = ControllerCheck(operation: operation, act: act, context: context, report: report)
      guard check.hasController else { return }
      try await check.perform(rule)
    }
  }
}

struct ControllerCheck<Controlled: StatefulOperationRequest<QueryState<Int, any Error>>>: Sendable
where Controlled.Value == Int, Controlled.Failure == any Error {
  let operation: Controlled
  let act: @Sendable () -> Void
  let context: OperationContext
  let report: RuleReport

  private var limit: Duration { self.report.limit }

  fileprivate var hasController: Bool {
    var context = self.context
    self.operation.setup(context: &context)
    let isKept = !context.operationControllers.isEmpty
    self.report.expect(isKept, "the operation has no controller. Attach it with `controlled(by:)`.")
    return isKept
  }

  fileprivate func perform(_ rule: ControllerRule) async throws {
    switch rule {
    case .start: try await self.checkStart()
    case .stores: try await self.checkStores()
    case .independence: try await self.checkIndependence()
    case .cancellation: try await self.checkCancellation()
    case .release: try await self.checkRelease()
    case .unlocked: try await self.checkLocks()
    case .reentrancy: try await self.checkReentrancy()
    case .threads: try await self.checkThreads()
    }
  }

  func store(
    in context: OperationContext? = nil,
    onChange: @escaping @Sendable () -> Void = {}
  ) -> ControlledStore {
    ControlledStore(of: self.operation, in: context ?? self.context, onChange: onChange)
  }

  /// Makes the controller act, and waits until each store has changed. Returns false if that breaks the rule.
  func actionReaches(
    _ stores: [ControlledStore],
    _ which: String,
    within limit: Duration? = nil,
    _ remedy: String
  ) async throws -> Bool {
    let counts = stores.map(\.changeCount)
    self.act()
    return try await self.report.waits(remedy) {
      for (store, count) in zip(stores, counts) {
        try await store.changes(atLeast: count + 1, within: limit ?? self.limit, which)
      }
    }
  }
}

// MARK: - The checks

extension ControllerCheck {
  private func checkStart() async throws {
    let store = self.store()
    for count in 1...3 {
      let remedy = "`control(with:)` is called once for each store. Begin there what reaches the store."
      guard try await self.actionReaches([store], "a store", remedy) else { return }
      let changes = store.changeCount
      guard changes == count else {
        return self.report.expect(
          false,
          "the controller has acted \(count) times, and the store changed \(changes) times. "
            + "Begin once in each call of `control(with:)`."
        )
      }
    }
  }

  private func checkStores() async throws {
    let stores = (0..<3).map { _ in self.store() }
    _ = try await self.actionReaches(stores, "each of 3 stores", "Keep the controls of each store.")
  }

  private func checkIndependence() async throws {
    var stores = (0..<3).map { _ in self.store() }
    guard try await self.actionReaches(stores, "each of 3 stores", "Keep the controls of each store.") else { return }
    stores.remove(at: 1)
    let remedy = "End only what belongs to the store of the cancelled subscription."
    _ = try await self.actionReaches(stores, "the stores before and after one that has ended", remedy)
  }

  private func checkCancellation() async throws {
    let (store, witness) = (self.store(), self.store())
    guard try await self.actionReaches([store, witness], "each of 2 stores", "Keep the controls of each store.") else {
      return
    }
    store.cancelControllers()
    let count = store.changeCount
    for _ in 1...2 {
      let remedy = "End only what belongs to the store of the cancelled subscription."
      guard try await self.actionReaches([witness], "the remaining store", remedy) else { return }
    }
    let changes = store.changeCount - count
    self.report.expect(
      changes == 0,
      "the store changed \(changes) times after the subscription of the controller was cancelled. "
        + "End everything in the subscription that `control(with:)` returns."
    )
  }

  private func checkRelease() async throws {
    let lifetimes = LifetimeTracker()
    guard try await self.useStore(holding: lifetimes) else { return }
    let remedy = "Release the controls in the subscription that `control(with:)` returns."
    _ = try await self.report.waits(remedy) {
      try await lifetimes.release(within: self.limit, of: "the context of a store to be released after the store's end")
    }
  }

  // A separate function, so that no frame of the check retains the store.
  private func useStore(holding lifetimes: LifetimeTracker) async throws -> Bool {
    var context = self.context
    context[TokenKey.self] = lifetimes.token()
    let store = self.store(in: context)
    return try await self.actionReaches([store], "a store", "Keep the controls of each store.")
  }

  private func lockProbe() -> LockProbe {
    LockProbe(within: self.limit) { _ = self.store() }
  }

  private func expectNoFinding(of probe: LockProbe) {
    self.report.expect(
      probe.finding == nil,
      "it acted with a lock held: another thread could not make a store for \(self.limit). "
        + "Take the controls out of the lock, and use them after it."
    )
  }

  private func checkLocks() async throws {
    let (probe, isArmed) = (self.lockProbe(), AtomicFlag(false))
    let store = self.store { if isArmed.isOn { probe.probe("") } }
    _ = isArmed.set(true)
    let remedy = "Keep the controls of each store."
    guard try await self.actionReaches([store], "a store", within: self.report.longLimit, remedy) else { return }
    self.expectNoFinding(of: probe)
  }

  private func checkReentrancy() async throws {
    let (probe, isArmed) = (self.lockProbe(), AtomicFlag(false))
    let ending = Locked<ControlledStore?>(nil)
    let new = Locked<ControlledStore?>(nil)
    // No variable retains the store, so that it ends in its handler.
    ending.keep(
      self.store {
        guard isArmed.set(false), probe.probe("") else { return }
        new.keep(self.store())
        ending.keep(nil)
      }
    )
    let witness = self.store()
    _ = isArmed.set(true)
    let remedy = "Act on a copy of the controls, so that stores may come and go meanwhile."
    let which = "a store after one that ends while the controller acts"
    guard try await self.actionReaches([witness], which, within: self.report.longLimit, remedy) else { return }
    guard probe.finding == nil else { return self.expectNoFinding(of: probe) }
    let stores = [new.withLock { $0 }, witness].compactMap { $0 }
    _ = try await self.actionReaches(stores, "a store that was made while the controller acted", remedy)
  }

  private func checkThreads() async throws {
    let kept = Locked<[ControlledStore]>([])
    try await Threads.call(4, within: self.limit) { number in
      for round in 0..<25 {
        let store = self.store()
        if number == 0 { self.act() }
        if round == 0 { kept.withLock { $0.append(store) } }
      }
    }
    let remedy = "Guard what threads share by one lock."
    _ = try await self.actionReaches(
      kept.withLock { $0 },
      "each of 4 stores that were made on several threads at the same time",
      remedy
    )
  }
}

extension Locked<ControlledStore?> {
  /// Stores a store, and releases the previous one after unlocking.
  fileprivate borrowing func keep(_ store: ControlledStore?) {
    _ = self.withLock { kept -> ControlledStore? in
      defer { kept = store }
      return kept
    }
  }
}
