/// Reruns a store at an interval while it has subscribers.
///
/// The first rerun happens one interval after the first subscriber is added. A rerun is skipped when a run is under way
/// or the condition is not satisfied.
struct Polling<State: OperationState & Sendable, Specification: OperationRunSpecification & Sendable>:
  OperationController, Sendable
{
  let interval: Duration
  let jitter: PollingJitter
  let specification: Specification

  func control(with controls: OperationControls<State>) -> OperationSubscription {
    guard self.interval > .zero else {
      OperationWarning.invalidInterval(self.interval, at: controls.path).report()
      return .empty
    }
    let timer = PollingTimer()
    let activity = controls.observeActivity { self.follow(controls, with: timer) }
    self.follow(controls, with: timer)
    return .combined(
      activity,
      OperationSubscription {
        timer.stop()
        controls.runtime.note(nil, of: timer)
      }
    )
  }

  /// Starts or stops the timer according to the number of subscribers.
  private func follow(_ controls: OperationControls<State>, with timer: PollingTimer) {
    if controls.subscriberCount == 0 {
      timer.pause()
      controls.runtime.note(nil, of: timer)
    }
    // Checked again: a subscriber added before the pause found the timer still running.
    if controls.subscriberCount > 0 {
      let deadlines = controls.context.operationDeadlines
      let interval = self.jitter.shortened(self.interval)
      let isStarted = timer.startIfPaused(after: interval, on: deadlines) {
        self.poll(controls)
        self.follow(controls, with: timer)
      }
      if isStarted {
        let elapsed = deadlines.elapsed.clampedForClock + interval.clampedForClock
        controls.runtime.note(PlannedPoll(elapsed: elapsed, specification: self.specification), of: timer)
      }
    }
  }

  private func poll(_ controls: OperationControls<State>) {
    guard !controls.state.isLoading, self.specification.isSatisfied(in: controls.context) else { return }
    controls.rerunForSubscribers(OperationRunCause(.polling(self.interval)))
  }
}

extension OperationWarning {
  static func invalidInterval(_ interval: Duration, at path: OperationPath) -> OperationWarning {
    OperationWarning(
      code: .invalidArgument,
      message: """
        The operation at \(ShownText.of(path)) cannot be rerun every \(interval). It is not rerun at an interval. Give \
        `.rerun(every:)` a duration greater than zero.
        """
    )
  }
}
