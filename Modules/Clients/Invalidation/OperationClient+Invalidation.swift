/// Which stores run again after an invalidation or a reset.
@nonexhaustive(warn)
public enum OperationReruns: Hashable, Sendable {
  /// None. A store runs when it is next used.
  case none
  /// Those with subscribers.
  case subscribed
  /// All, also those without subscribers. Mutations never run again, nor does what does not run by itself.
  case all
}

extension OperationClient {
  /// Marks the stores at paths that start with `path` as stale, and reruns those with subscribers.
  ///
  /// The stores are stale regardless of their staleness rules. A call made afterwards never receives the result of an
  /// earlier run: a run that is under way does not make the store fresh, and when it has ended, the store runs again
  /// for its subscribers. Stores whose automatic running is disabled, or whose specification for it is not satisfied,
  /// are marked but not rerun.
  ///
  /// ```swift
  /// client.invalidate(matching: ["posts"])                    // Continues immediately.
  /// await client.invalidate(matching: ["posts"]).settled()    // Waits for the reruns.
  /// client.invalidate(matching: ["posts"], rerunning: .none)  // They run when they are next used.
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - reruns: Which of the stores run again.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  /// - Complexity: O(*n*) in the number of matching stores.
  @discardableResult
  public func invalidate(
    matching path: OperationPath = [],
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    self.invalidate(matching: path, rerunning: reruns, by: nil, isolation: isolation)
  }

  /// Marks stores as stale, and reruns those with subscribers, as
  /// ``invalidate(matching:rerunning:isolation:)-(OperationPath,_,_)`` does.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - reruns: Which of the stores run again.
  ///   - operationName: The name of the operation that invalidates the stores; nil for other code.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  @discardableResult
  package func invalidate(
    matching path: OperationPath,
    rerunning reruns: OperationReruns = .subscribed,
    by operationName: String?,
    isolation: (any Actor)?
  ) -> OperationInvalidation {
    let relays = self.noteInvalidation(of: [.path(path)])
    let runtimes = self.storage.runtimes(matching: path)
    let date = runtimes.first?.context.date
    let record = InvalidationRecord(of: path, by: operationName ?? RunningOperation.name, at: date)
    return Self.invalidate(runtimes, record, rerunning: reruns, isEnqueued: isolation != nil).passedOn(by: relays)
  }

  /// Marks the stores at paths that start with one of several prefixes as stale in one step, and reruns some of them.
  ///
  /// No rerun begins before all stores are marked, and a store that several prefixes match is invalidated once.
  ///
  /// ```swift
  /// client.invalidate(matchingAnyOf: [["posts"], ["users", 1]])
  /// ```
  ///
  /// - Parameters:
  ///   - paths: The prefixes. Without any, nothing is invalidated.
  ///   - reruns: Which of the stores run again.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  /// - Complexity: O(*n*) in the number of matching stores.
  @discardableResult
  public func invalidate(
    matchingAnyOf paths: [OperationPath],
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation
  ) -> OperationInvalidation {
    let relays = self.noteInvalidation(of: paths.map { .path($0) })
    let stores = self.stores(matchingAnyOf: paths)
    return Self.invalidate(stores, subject: { Self.text(of: paths) }, rerunning: reruns, isolation: isolation)
      .passedOn(by: relays)
  }

  /// Marks the stores at paths that start with `path` as stale if a predicate is true for them, and reruns some of them.
  ///
  /// Unlike an invalidation of a whole prefix, it concerns the stores that the client has at the time of the call, and
  /// neither values that arrive later nor other nodes of a fleet: a predicate cannot be asked about those. What a value
  /// says about itself is a tag: see `OperationTags`.
  ///
  /// ```swift
  /// client.invalidate(matching: ["posts"], rerunning: .none) { $0.subscriberCount == 0 }
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - reruns: Which of the stores run again.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  ///   - isIncluded: Called once with each store at these paths, with no lock held, before any is invalidated.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  @discardableResult
  public func invalidate(
    matching path: OperationPath = [],
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation,
    where isIncluded: (OpaqueOperationStore) -> Bool
  ) -> OperationInvalidation {
    self.invalidate(matchingAnyOf: [path], rerunning: reruns, isolation: isolation, where: isIncluded)
  }

  /// Marks the stores at paths that start with one of several prefixes as stale if a predicate is true for them, in one
  /// step.
  ///
  /// See ``invalidate(matching:rerunning:isolation:where:)``.
  ///
  /// - Parameters:
  ///   - paths: The prefixes. Without any, nothing is invalidated.
  ///   - reruns: Which of the stores run again.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  ///   - isIncluded: Called once with each store at these paths, with no lock held, before any is invalidated.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  @discardableResult
  public func invalidate(
    matchingAnyOf paths: [OperationPath],
    rerunning reruns: OperationReruns = .subscribed,
    isolation: (any Actor)? = #isolation,
    where isIncluded: (OpaqueOperationStore) -> Bool
  ) -> OperationInvalidation {
    let stores = self.stores(matchingAnyOf: paths).filter(isIncluded)
    let subject: @Sendable () -> String = { "\(Self.text(of: paths)) by a predicate" }
    return Self.invalidate(stores, subject: subject, rerunning: reruns, isolation: isolation)
  }

  /// The stores at paths that start with one of several prefixes, each once.
  private func stores(matchingAnyOf paths: [OperationPath]) -> [OpaqueOperationStore] {
    if paths.count == 1 { return Array(self.stores(matching: paths[0])) }
    var known: Set<ObjectIdentifier> = []
    return paths.flatMap { Array(self.stores(matching: $0)) }.filter { known.insert($0.identity).inserted }
  }

  private static func text(of paths: [OperationPath]) -> String {
    paths.map { $0.isEmpty ? "all stores" : ShownText.of($0) }.joined(separator: " and ")
  }

  /// Marks stores as stale, and reruns those with subscribers, as
  /// ``invalidate(matching:rerunning:isolation:)-(OperationPath,_,_)`` does.
  ///
  /// - Parameters:
  ///   - stores: The stores of a client, each once.
  ///   - subject: A text for what the stores have in common, such as their tags.
  ///   - reruns: Which of the stores run again.
  ///   - operationName: The name of the operation that invalidates the stores; nil for other code.
  ///   - isolation: The actor of the caller, on which the reruns do not begin.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  package static func invalidate(
    _ stores: [OpaqueOperationStore],
    subject: @escaping @Sendable () -> String,
    rerunning reruns: OperationReruns = .subscribed,
    by operationName: String? = nil,
    isolation: (any Actor)?
  ) -> OperationInvalidation {
    let (name, date) = (operationName ?? RunningOperation.name, stores.first?.runtime.context.date)
    let record = InvalidationRecord(by: name, at: date, subject)
    return self.invalidate(stores.map(\.runtime), record, rerunning: reruns, isEnqueued: isolation != nil)
  }

  private static func invalidate(
    _ runtimes: [StoreRuntime],
    _ record: InvalidationRecord,
    rerunning reruns: OperationReruns,
    isEnqueued: Bool
  ) -> OperationInvalidation {
    let stores = runtimes.map { OperationInvalidation.Store(runtime: $0, number: $0.invalidate(record)) }
    if reruns == .none { return OperationInvalidation(stores: []) }
    for runtime in runtimes { runtime.rerunAfterInvalidation(isEnqueued: isEnqueued) }
    if reruns == .all {
      for runtime in runtimes where runtime.subscriberCount == 0 && runtime.canYieldRerun && runtime.isInvalidated {
        runtime.refreshBehind(because: OperationRunCause(.invalidation(record)))
      }
    }
    return OperationInvalidation(stores: stores, awaitsAllRuns: reruns == .all)
  }
}

extension OperationClient {
  /// Resets the stores at paths that start with `path` to their initial states, cancels their runs, and reruns some.
  ///
  /// Values that were read ahead for further stores at these paths are discarded. No rerun begins before all stores are
  /// reset.
  ///
  /// ```swift
  /// client.resetStores(matching: ["cart"])                           // Empty, until they are used again.
  /// client.resetStores(matching: ["cart"], rerunning: .subscribed)   // What is on the screen is fetched again.
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - reruns: Which of the stores run again. A store whose automatic running is disabled does not.
  /// - Returns: A value with a method ``OperationInvalidation/settled()`` that waits for the reruns.
  /// - Complexity: O(*n*) in the number of matching stores, their subscribers and runs.
  @discardableResult
  public func resetStores(
    matching path: OperationPath = [],
    rerunning reruns: OperationReruns = .none
  ) -> OperationInvalidation {
    for object in self.preloading { object.discardPreloaded(matching: path) }
    let runtimes = self.storage.runtimes(matching: path)
    for runtime in runtimes { runtime.reset(using: nil) }
    if reruns == .none { return OperationInvalidation(stores: []) }
    let cause = OperationRunCause(.reset)
    for runtime in runtimes where runtime.canYieldRerun {
      if runtime.subscriberCount > 0 {
        runtime.runForSubscribers(mode: .enqueued, origin: RunOrigin(cause))
      } else if reruns == .all {
        runtime.refreshBehind(because: cause)
      }
    }
    let stores = runtimes.map { OperationInvalidation.Store(runtime: $0, number: 0) }
    return OperationInvalidation(stores: stores, awaitsAllRuns: true)
  }

  /// Removes the stores at paths that start with `path` from the client, with their values.
  ///
  /// It does what ``clearStores(matching:)`` does, for stores that a predicate may choose: their subscriptions end, and
  /// the next use of a path makes another store. An invalidation keeps values and subscribers, and a reset keeps the
  /// subscribers. Stored values stay in their storage.
  ///
  /// ```swift
  /// client.remove(matching: ["drafts"])
  /// client.remove(matching: ["posts"]) { $0.subscriberCount == 0 }  // What is on no screen.
  /// ```
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all stores.
  ///   - isIncluded: Called once with each store at these paths, with no lock held; nil to remove all of them, and to
  ///     discard values that were read ahead for further stores there.
  /// - Complexity: O(*n*) in the number of stores at these paths.
  public func remove(matching path: OperationPath, where isIncluded: ((OpaqueOperationStore) -> Bool)? = nil) {
    guard let isIncluded else { return self.clearStores(matching: path) }
    for store in self.stores(matching: path).filter(isIncluded) { self.clearStore(with: store.path) }
  }
}

extension OpaqueOperationStore {
  /// Invalidates the store because of an invalidation that its value has arrived too late for.
  ///
  /// A store that is invalidated is left as it is: what answers that has seen the other invalidation, too. Otherwise a value that
  /// stays while its reruns fail would be the cause of the next rerun each time that the error changes.
  ///
  /// - Parameter subject: Returns what the invalidation concerns, as text.
  package func invalidateLateValue(_ subject: @escaping @Sendable () -> String) {
    self.runtime.noteMissedInvalidation()
    if self.runtime.isInvalidated { return }
    self.runtime.invalidate(InvalidationRecord(by: nil, at: self.runtime.context.date, subject))
    self.runtime.rerunAfterInvalidation(isEnqueued: true)
  }

  /// Identifies the store, as long as it exists. All references to one store have the same identity.
  package var identity: ObjectIdentifier { ObjectIdentifier(self.store) }
}

/// The reruns caused by an invalidation.
public struct OperationInvalidation: Sendable {
  struct Store: Sendable {
    let runtime: StoreRuntime
    let number: Int
  }

  let stores: [Store]
  /// Whether stores without subscribers run again, too, or stores that were not invalidated.
  var awaitsAllRuns = false
  /// What passes the invalidation on.
  private var relays: [any InvalidationRelay] = []

  init(stores: [Store], awaitsAllRuns: Bool = false) {
    self.stores = stores
    self.awaitsAllRuns = awaitsAllRuns
  }

  /// Lets ``settled()`` wait for those that pass the invalidation on.
  package func passedOn(by relays: [any InvalidationRelay]) -> Self {
    var result = self
    result.relays = relays
    return result
  }

  /// Waits until the reruns have settled, and the invalidation was passed on, or the current task is cancelled.
  ///
  /// It does not wait for stores that do not run again, such as those without subscribers. In a fleet it waits until the other
  /// nodes cannot read what was invalidated any more, as the documentation of `OperationFleet` says.
  public func settled() async {
    await withDiscardingTaskGroup { group in
      for relay in self.relays { group.addTask { await relay.invalidationsSettled() } }
      for store in self.stores {
        group.addTask { [awaitsAllRuns] in
          await store.runtime.settled(afterInvalidation: store.number)
          if awaitsAllRuns { await store.runtime.refreshed() }
        }
      }
    }
  }
}
