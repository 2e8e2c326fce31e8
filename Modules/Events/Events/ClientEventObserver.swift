internal import OperationCore
internal import OperationFoundation

/// Makes the events of a client's stores for the readers of ``OperationCore/OperationClient/events``.
final class ClientEventObserver: StoreObserver {
  private let hub: EventHub
  /// What waits until the values of the stores become stale, by store.
  private let watches = Locked<[ObjectIdentifier: StalenessWatch]>([:])

  init(_ hub: EventHub) {
    self.hub = hub
  }

  var observedEvents: StoreEvent.Kinds { .all.subtracting([.states, .activity]) }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    if let what = OperationEvent.What(event) {
      // The context of an event may be one that a caller has passed, without deadlines.
      let elapsed = event.run == nil ? event.storeContext.elapsed : event.context.elapsed
      self.hub.receive(
        OperationEvent(
          number: 0,
          path: event.path,
          operationName: event.operationName,
          run: event.run,
          cause: event.run == nil ? event.cause : event.context.operationRunCause,
          date: event.context.date,
          elapsed: elapsed,
          what: what
        )
      )
    }
    switch event.what {
    case .unobserved:
      self.watches.withLock { watches, released in
        released.append(watches.removeValue(forKey: ObjectIdentifier(store)))
      }
    case .observed: self.watchStaleness(of: store)
    case let what where what.mayRenewValue: self.watchStaleness(of: store)
    default: break
    }
  }

  private func watchStaleness(of store: StoreReference) {
    guard store.context.mayNameFreshPeriods else { return }
    let watch = self.watches.withLock { watches in
      if let known = watches[ObjectIdentifier(store)] { return known }
      let made = StalenessWatch { [weak self] in self?.send(.becameStale(because: $0), $1, of: $2) }
      watches[ObjectIdentifier(store)] = made
      return made
    }
    watch.look(at: store)
  }

  private func send(_ what: OperationEvent.What, _ cause: OperationRunCause, of store: StoreReference) {
    let context = store.context
    self.hub.receive(
      OperationEvent(
        number: 0,
        path: store.path,
        operationName: store.operationName,
        run: nil,
        cause: cause,
        date: context.date,
        elapsed: context.elapsed,
        what: what
      )
    )
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
    // The stores of a client that no longer exists are not told one by one: the sequences end.
    case .observed, .unobserved, .activityChanged, .stateChanged, .removedFromClient(.released): return nil
    case .addedToClient: self = .storeAdded
    case .removedFromClient(.cleared), .removedFromClient(.replaced): self = .storeRemoved(.cleared)
    case .removedFromClient(.evicted): self = .storeRemoved(.evicted)
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
      failureType: error.map { ShownText.typeName(of: $0) },
      duration: end.duration
    )
  }
}

extension OperationEvent.AttemptFailure {
  init(_ attempt: OperationAttempt, at date: Date) {
    self.init(
      attempt: attempt.index,
      failure: attempt.lastFailure.map { ShownText.of($0) },
      failureType: attempt.lastFailure.map { ShownText.typeName(of: $0) },
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
