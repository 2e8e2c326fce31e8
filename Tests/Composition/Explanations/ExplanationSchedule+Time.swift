import Operation
import TestFixtures

extension ExplanationSchedule {
  /// What an explanation says of a time to come.
  private struct Claim {
    enum What {
      case polls, becomesStale, isEvicted, attempt, timeIsOver
    }

    let tracked: TrackedStore
    let what: What
    let time: Duration
    let run: String?
    let explanation: OperationExplanation

    /// Dates are numbers of seconds, so the time of one is known to a microsecond or so.
    static let tolerance = Duration.microseconds(2)

    /// Whether something at a time is what was announced.
    func isMeant(by time: Duration) -> Bool { max(time - self.time, self.time - time) <= Self.tolerance }
  }

  /// Lets time pass, and compares what happens with what was announced just before.
  func advance(by duration: Duration) -> String? {
    let end = self.clock.elapsed + duration
    self.settle()
    while true {
      let before = self.tracked.compactMap { tracked in tracked.store.map { (tracked, $0.explain()) } }
      for (tracked, explanation) in before {
        if let failure = self.contradiction(in: explanation, of: tracked) { return failure }
      }
      let claims = before.flatMap { self.claims(of: $0.0, $0.1) }
      let start = self.clock.elapsed
      let next = min(end, claims.map { $0.time + Claim.tolerance }.filter { $0 > start }.min() ?? end)
      _ = self.clock.advance(upTo: next)
      self.settle()
      while self.clock.advance(upTo: self.clock.elapsed) { self.settle() }
      let now = self.clock.elapsed
      for claim in claims where claim.time <= now + Claim.tolerance {
        if let failure = self.unkept(claim) { return "\(failure): \(claim.explanation)" }
      }
      for (tracked, explanation) in before {
        if let failure = self.unannounced(tracked, explanation, claims) { return "\(failure): \(explanation)" }
      }
      if now >= end { return nil }
    }
  }

  private func claims(of tracked: TrackedStore, _ explanation: OperationExplanation) -> [Claim] {
    let now = self.clock.elapsed
    func claim(_ what: Claim.What, in time: Duration, run: String? = nil) -> Claim {
      Claim(tracked: tracked, what: what, time: now + time, run: run, explanation: explanation)
    }
    let plans = explanation.plans.compactMap { plan -> Claim? in
      switch plan.action {
      case "polls": claim(.polls, in: plan.delay)
      case "becomes stale": claim(.becomesStale, in: plan.delay)
      case "is evicted": claim(.isEvicted, in: plan.delay)
      default: nil
      }
    }
    let attempts = explanation.runs.compactMap { run in run.nextAttempt.map { claim(.attempt, in: $0, run: run.task) } }
    let limits = explanation.runs.compactMap { run in run.timeLeft.map { claim(.timeIsOver, in: $0, run: run.task) } }
    return plans + attempts + limits
  }

  /// What has not happened at the time that was announced.
  private func unkept(_ claim: Claim) -> String? {
    let now = self.clock.elapsed
    let events = claim.tracked.recorder.events.filter { claim.isMeant(by: $0.time) }
    if now < claim.time + Claim.tolerance, let store = claim.tracked.store {
      let later = self.claims(of: claim.tracked, store.explain())
      if later.contains(where: { $0.what == claim.what && $0.run == claim.run && claim.isMeant(by: $0.time) }) {
        return nil
      }
    }
    func hasEvent(ofRun run: String?, _ isIt: (StoreRecorder.Event.What) -> Bool) -> Bool {
      events.contains { event in isIt(event.what) && (run == nil || event.run.map { "\($0)" } == run) }
    }
    switch claim.what {
    case .polls:
      // A poll is left out while a run is under way.
      if !claim.explanation.runs.isEmpty { return nil }
      let isPolled = events.contains { if case .began(.polling) = $0.what { true } else { false } }
      return isPolled || claim.tracked.store?.inspect().runs.isEmpty == false ? nil : "it did not poll"
    case .becomesStale:
      if !events.isEmpty || claim.tracked.store == nil { return nil }
      return claim.tracked.store?.staleness.isStale == true ? nil : "it did not become stale"
    case .isEvicted:
      if claim.tracked.owner != nil || !events.allSatisfy({ $0.what == .removed }) { return nil }
      return self.isInClient(claim.tracked) ? "it was not evicted" : nil
    case .attempt:
      let hasBegun = hasEvent(ofRun: claim.run) { $0 == .attemptBegan }
      let hasEnded = hasEvent(ofRun: claim.run) { if case .ended = $0 { true } else { false } }
      return hasBegun || hasEnded ? nil : "the attempt did not begin"
    case .timeIsOver:
      let isOver = hasEvent(ofRun: claim.run) { what in
        switch what {
        case .ended, .attemptFailed, .attemptBegan: true
        default: false
        }
      }
      return isOver ? nil : "its time was not over"
    }
  }

  /// What has happened that was not announced.
  private func unannounced(
    _ tracked: TrackedStore,
    _ explanation: OperationExplanation,
    _ claims: [Claim]
  ) -> String? {
    let now = self.clock.elapsed
    func isClaimed(_ what: Claim.What, run: OperationTaskIdentifier? = nil) -> Bool {
      let name = run.map { "\($0)" }
      return claims.contains {
        $0.tracked === tracked && $0.what == what && $0.isMeant(by: now) && ($0.run == name || name == nil)
      }
    }
    for event in tracked.recorder.events(at: now) {
      switch event.what {
      case .began(.polling) where !isClaimed(.polls): return "it polled unannounced"
      case .removed where !tracked.isRemoved && !isClaimed(.isEvicted): return "it was evicted unannounced"
      case .ended(timedOut: true), .attemptFailed(timedOut: true):
        // A run of no time is over before there is an explanation of it.
        if let run = event.run, explanation.runs.contains(where: { $0.task == "\(run)" }), !isClaimed(.timeIsOver) {
          return "its time was over unannounced"
        }
      case .attemptBegan:
        if let run = event.run, explanation.runs.contains(where: { $0.task == "\(run)" && $0.nextAttempt != nil }),
          !isClaimed(.attempt, run: run)
        {
          return "an attempt began unannounced"
        }
      default: break
      }
    }
    guard let store = tracked.store, tracked.recorder.events(at: now).isEmpty else { return nil }
    let isStale = store.staleness.isStale
    if explanation.staleness?.isStale == false, isStale, !isClaimed(.becomesStale) {
      return "it became stale unannounced"
    }
    if explanation.staleness?.isStale == true, !isStale { return "it became fresh by itself" }
    return nil
  }

  /// What is not so at this moment, though the explanation says so.
  private func contradiction(in explanation: OperationExplanation, of tracked: TrackedStore) -> String? {
    guard let store = tracked.store else { return nil }
    let text = explanation.description
    let facts: [(Bool, String)] = [
      (explanation.isRemoved == tracked.isRemoved, "whether its client has it"),
      (text.contains("Its client no longer has it.") == tracked.isRemoved, "the sentence of its removal"),
      (explanation.subscribers.count == tracked.subscriptions.count, "its \(tracked.subscriptions.count) subscribers"),
      (
        text.contains("It has no subscribers.") == tracked.subscriptions.isEmpty,
        "the sentence of its subscribers"
      ),
      (explanation.staleness?.isStale == store.isStale, "whether it is stale"),
      (
        (text.contains("It is stale") || text.contains("It has been stale"))
          == (explanation.staleness?.explanation != nil), "the sentence of its staleness"
      ),
      (explanation.runs.map(\.task).sorted() == tracked.recorder.running.map { "\($0)" }.sorted(), "its runs"),
      (text.contains("A run is under way") == !explanation.runs.isEmpty, "the sentence of its runs"),
      (explanation.plans.allSatisfy { text.contains("it \($0.action) in \($0.delay.roundedText)") }, "its plans"),
      (text.contains("it polls in") == explanation.plans.contains { $0.action == "polls" }, "its polls"),
      (
        explanation.runs.allSatisfy { run in
          run.timeLeft.map { text.contains("its time is over in \($0.roundedText)") } ?? true
        }, "the sentence of its time"
      ),
      (
        explanation.runs.allSatisfy { run in
          run.pause == nil || !self.mayAllRun && text.contains("it has waited for")
        }, "what its run waits for"
      ),
      (
        explanation.runs.allSatisfy { run in
          (run.attempt ?? 1) <= (run.attemptLimit ?? .max)
        }, "its number of attempts"
      ),
      (explanation.automaticRunObstacle.map { text.contains($0) } ?? true, "why it does not run by itself"),
      (explanation.failure == nil || text.contains("Its last result is an error"), "its error"),
      (explanation.endedRuns.count <= 8, "its ended runs"),
    ]
    return facts.first { !$0.0 }.map { "\($0.1) is not so: \(text)" }
  }
}
