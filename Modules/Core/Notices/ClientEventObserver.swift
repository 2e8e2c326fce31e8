internal import OperationFoundation

/// Makes the events of a client's stores for the readers of ``OperationClient/events``.
final class ClientEventObserver: StoreObserver {
  private let hub: EventHub
  /// What waits until the values of the stores become stale, by store.
  private let watches = Locked<[ObjectIdentifier: StalenessWatch]>([:])

  init(_ hub: EventHub) {
    self.hub = hub
  }

  var observedEvents: StoreEvent.Kinds { .all.subtracting([.states, .activity]) }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    guard let runtime = event.runtime else { return }
    if let what = OperationEvent.What(event) {
      self.send(
        what,
        event.context,
        run: event.run,
        event.run == nil ? event.cause : event.context.operationRunCause,
        runtime
      )
    }
    switch event.what {
    case .unobserved:
      self.watches.withLock { watches, released in
        released.append(watches.removeValue(forKey: ObjectIdentifier(store)))
      }
    case .observed: self.watchStaleness(of: store, runtime)
    case let what where what.mayRenewValue: self.watchStaleness(of: store, runtime)
    default: break
    }
  }

  private func send(
    _ what: OperationEvent.What,
    _ context: OperationContext,
    run: OperationTaskIdentifier?,
    _ cause: OperationRunCause?,
    _ runtime: StoreRuntime
  ) {
    // The context of an event may be one that a caller has passed, without deadlines.
    let elapsed = run == nil ? runtime.context.elapsed : context.elapsed
    self.hub.receive(
      OperationEvent(
        number: 0,
        path: runtime.path,
        operationName: runtime.operationName,
        run: run,
        cause: cause,
        date: context.date,
        elapsed: elapsed,
        what: what
      )
    )
  }

  private func watchStaleness(of store: StoreReference, _ runtime: StoreRuntime) {
    guard store.runtime != nil, runtime.context.mayNameFreshPeriods else { return }
    let watch = self.watches.withLock { watches in
      if let known = watches[ObjectIdentifier(store)] { return known }
      let made = StalenessWatch { [weak self] reason, cause, runtime in
        self?.send(.becameStale(because: reason), runtime.context, run: nil, cause, runtime)
      }
      watches[ObjectIdentifier(store)] = made
      return made
    }
    watch.look(at: runtime)
  }
}

extension StoreEvent.What {
  /// Whether the event may have changed the value, or how long it is fresh.
  fileprivate var mayRenewValue: Bool {
    switch self {
    case .stateWritten: true
    case .yielded(let outcome): outcome.error == nil
    case .runEnded(let end): end.outcome.map { $0.error == nil } ?? false
    default: false
    }
  }
}

extension OperationEvent.What {
  /// The event of a store without values; nil for one that readers of a client do not receive.
  fileprivate init?(_ event: StoreEvent) {
    switch event.what {
    case .observed, .unobserved, .activityChanged, .stateChanged: return nil
    case .addedToClient: self = .storeAdded
    case .removedFromClient(.cleared), .removedFromClient(.replaced): self = .storeRemoved(.cleared)
    case .removedFromClient(.evicted), .removedFromClient(.released): self = .storeRemoved(.evicted)
    case .subscriberCame(let name, let count): self = .subscriberCame(name: name, count: count)
    case .subscriberLeft(let name, let count): self = .subscriberLeft(name: name, count: count)
    case .runBegan: self = .runBegan
    case .runJoined: self = .runJoined
    case .runEnded(let end): self = .runEnded(OperationEvent.RunEnd(end))
    case .attemptFailed(let attempt):
      self = .attemptFailed(OperationEvent.AttemptFailure(attempt, at: event.context.date))
    case .attemptBegan(let attempt): self = .attemptBegan(attempt.index)
    case .waitBegan(let wait): self = wait.isPause ? .paused(for: wait.subject()) : .waits(for: wait.subject())
    case .waitEnded(let wait, let time, let end):
      self =
        wait.isPause
        ? .resumed(from: wait.subject(), after: time, outcome: "\(end)")
        : .waited(for: wait.subject(), duration: time)
    case .yielded(let outcome): self = .yielded(failure: outcome.error.map { ShownText.of($0) })
    case .stateWritten(let write): self = .stateWritten(write)
    case .invalidated:
      guard let cause = event.cause else { return nil }
      self = .invalidated(cause)
    case .notice(let notice):
      // Pauses have events of their own.
      if notice.name == .runPaused || notice.name == .runResumed { return nil }
      self = .notice(notice)
    }
  }
}

extension OperationEvent.RunEnd {
  init(_ end: StoreEvent.RunEnd) {
    let error = end.outcome.flatMap(\.error)
    self.init(
      outcome: end.outcome == nil ? .cancellation : error == nil ? .success : .failure,
      failure: error.map { ShownText.of($0) },
      failureType: error.map { String(reflecting: type(of: $0)) },
      duration: end.duration
    )
  }
}

extension OperationEvent.AttemptFailure {
  init(_ attempt: OperationAttempt, at date: Date) {
    self.init(
      attempt: attempt.index,
      failure: attempt.lastFailure.map { ShownText.of($0) },
      failureType: attempt.lastFailure.map { String(reflecting: type(of: $0)) },
      next: attempt.nextBegins.map { .since(date, at: $0) },
      reason: attempt.lastFailure?.reasonForDelay
    )
  }
}

extension Error {
  /// Why the next attempt begins at its time, to follow "because"; nil if only the backoff determines it.
  var reasonForDelay: String? {
    guard case .retryAfter? = self.retryAdvice else { return nil }
    // Cast, because the type of an error of unknown type is `Error` here.
    return self.isLocalRejection ? "\(type(of: self as Any)) asked for it" : "the server asked for it"
  }
}
