internal import Synchronization

/// Reruns a store at intervals that its state decides, while it has subscribers.
struct ValuePolling<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  /// Returns the time until the next run; nil for none until the state changes.
  let interval: @Sendable (State, OperationContext) -> Duration?
  let jitter: PollingJitter
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    let poller = ValuePoller(self, controls)
    let observation = controls.storeReference.observe(with: poller)
    let activity = controls.observeActivity { [weak poller] in poller?.subscribersChanged() }
    poller.subscribersChanged()
    return .combined(activity, observation, OperationSubscription { poller.stop() })
  }
}

/// Polls one store.
///
/// The interval is asked when the first subscriber comes, after each run, after each change from outside of a run, and
/// after a poll that was skipped. A run begins its interval anew; a change does only if the interval is another one.
private final class ValuePoller<State, Specification>: StoreObserver
where State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable {
  private struct Progress {
    /// The interval that is under way, without its jitter; nil if none is.
    var interval: Duration?
    /// Whether a thread asks for the interval.
    var isAsking = false
    /// What has happened meanwhile, so that it asks again; nil for nothing.
    var next: Occasion?
  }

  private enum Occasion: Comparable {
    case change
    case newInterval
  }

  private let polling: ValuePolling<State, Specification>
  private let controls: OperationControls<State>
  private let timer = PollingTimer()
  private let progress = Mutex(Progress())

  init(_ polling: ValuePolling<State, Specification>, _ controls: OperationControls<State>) {
    self.polling = polling
    self.controls = controls
  }

  var observedEvents: StoreEvent.Kinds { [.runs, .writes] }

  func receive(_ event: StoreEvent, of store: StoreReference) {
    switch event.what {
    case .runEnded: self.follow(.newInterval)
    case .stateWritten: self.follow(.change)
    default: break
    }
  }

  func subscribersChanged() {
    self.follow(.change)
  }

  func stop() {
    self.timer.stop()
    self.controls.runtime.note(nil, of: self.timer)
  }

  /// Asks for the interval. If another thread does, that one asks once more, as the state may have changed.
  private func follow(_ occasion: Occasion) {
    let isFirst = self.progress.withLock { progress in
      if progress.isAsking { progress.next = max(progress.next ?? .change, occasion) }
      defer { progress.isAsking = true }
      return !progress.isAsking
    }
    var next = isFirst ? occasion : nil
    while let occasion = next {
      let interval = self.controls.subscriberCount > 0 ? self.askedInterval() : nil
      let isKept = self.progress.withLock { progress in
        defer { progress.interval = interval }
        return interval != nil && occasion == .change && progress.interval == interval
      }
      if !isKept { self.start(interval) }
      next = self.progress.withLock { progress in
        progress.isAsking = progress.next != nil
        return progress.next.take()
      }
    }
  }

  private func askedInterval() -> Duration? {
    guard let interval = self.polling.interval(self.controls.state, self.controls.context) else { return nil }
    if interval > .zero { return interval }
    OperationWarning.invalidInterval(interval, at: self.controls.path).report()
    return nil
  }

  private func start(_ interval: Duration?) {
    guard let interval else {
      self.timer.pause()
      return self.controls.runtime.note(nil, of: self.timer)
    }
    let deadlines = self.controls.context.operationDeadlines
    let shortened = self.polling.jitter.shortened(interval).clampedForClock
    self.timer.restart(after: shortened, on: deadlines) { [weak self] in self?.poll(after: interval) }
    let elapsed = deadlines.elapsed.clampedForClock + shortened
    self.controls.runtime.note(PlannedPoll(elapsed: elapsed, specification: self.polling.specification), of: self.timer)
  }

  private func poll(after interval: Duration) {
    // Before the run, whose end begins another interval.
    self.follow(.newInterval)
    guard !self.controls.state.isLoading, self.polling.specification.isSatisfied(in: self.controls.context) else {
      return
    }
    self.controls.rerunForSubscribers(OperationRunCause(.polling(interval)))
  }
}
