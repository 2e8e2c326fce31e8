internal import OperationCore
internal import Synchronization

/// Guards the machine of a limit, suspends and resumes the waiting runs, and has one timer for all of them.
final class LimitQueue<Machine: LimitMachine>: Sendable {
  fileprivate struct State: Sendable {
    var machine: Machine
    /// The time at which the timer fires; nil while there is none.
    var alarm: Duration?
    var timer = SubscriptionSlot()
  }

  /// The work to do after unlocking.
  fileprivate struct Effects: Sendable {
    var decided: [LimitWaiter] = []
    var alarm: (number: UInt64, due: Duration, deadlines: any DeadlineSource)?
    /// A timer that is no longer needed.
    var obsolete: OperationSubscription?
  }

  private let state: Mutex<State>

  init(_ machine: Machine) {
    self.state = Mutex(State(machine: machine))
  }

  /// Reads the machine, or changes it without a decision about a waiter.
  func withMachine<R: Sendable>(_ body: (inout Machine) -> R) -> R {
    self.state.withLock { body(&$0.machine) }
  }

  /// Changes the machine, then resumes the waiters that it has decided about.
  func change<R: Sendable>(_ body: (inout Machine) -> R) -> R {
    let (result, effects) = self.state.withLock { state in
      let result = body(&state.machine)
      return (result, state.effects())
    }
    if let effects { self.perform(effects) }
    return result
  }

  /// Waits for the decision about a run.
  nonisolated(nonsending) func decision(
    in context: OperationContext,
    maximumWait: Duration?
  ) async -> LimitWaiter.Decision {
    let now = context.elapsed
    let waiter = LimitWaiter(in: context, at: now, maximumWait: maximumWait)
    return await self.decision(about: waiter) { $0.join($1, at: now) }
  }

  /// Waits for the decision about a run, which `join` adds to the machine.
  nonisolated(nonsending) func decision(
    about waiter: LimitWaiter,
    joining join: @Sendable (inout Machine, LimitWaiter) -> LimitWaiter.Decision?
  ) async -> LimitWaiter.Decision {
    await withTaskCancellationHandler {
      await Waiter.outcome { continuation in
        self.change { machine in
          // The cancellation may have been first.
          if waiter.decision == nil, let decision = join(&machine, waiter) { waiter.decide(decision) }
          return waiter.wait.suspend(continuation)
        }
      }
    } onCancel: {
      self.cancel(waiter)
    }
  }

  private func cancel(_ waiter: LimitWaiter) {
    self.change { machine in
      guard waiter.decision == nil else { return }
      machine.remove(waiter)
      machine.decide(.cancelled, for: waiter)
    }
  }

  private func wake(_ number: UInt64, _ deadlines: any DeadlineSource) {
    let now = deadlines.elapsed.clampedForClock
    let effects = self.state.withLock { state -> Effects? in
      guard state.timer.isCurrent(number) else { return nil }
      let fired = state.timer.clear()
      state.alarm = nil
      state.machine.wake(at: now)
      var effects = state.effects() ?? Effects()
      effects.obsolete = fired
      return effects
    }
    if let effects { self.perform(effects) }
  }

  private func perform(_ effects: Effects) {
    if let (number, due, deadlines) = effects.alarm {
      let timer = deadlines.schedule(after: due - deadlines.elapsed.clampedForClock) { [weak self] in
        self?.wake(number, deadlines)
      }
      self.state.withLock { $0.timer.keep(timer, number: number) }?.cancel()
    }
    effects.obsolete?.cancel()
    // A waiter that was cancelled before it was suspended reads its decision instead.
    for waiter in effects.decided { waiter.resumption?.resume() }
  }
}

extension LimitQueue.State {
  /// The work to do after unlocking; nil if there is none, as for most runs.
  fileprivate mutating func effects() -> LimitQueue.Effects? {
    let next = self.machine.alarm
    guard !self.machine.decided.isEmpty || next != nil || self.alarm != nil else { return nil }
    var effects = LimitQueue.Effects(decided: self.machine.decided)
    self.machine.decided = []
    guard let next else {
      if self.alarm != nil { effects.obsolete = self.timer.clear() }
      self.alarm = nil
      return effects
    }
    // A timer that fires too early is set again, which is cheaper than setting it for each waiter that leaves.
    if let alarm = self.alarm, alarm <= next.due { return effects }
    self.alarm = next.due
    effects.alarm = (self.timer.reserve(), next.due, next.deadlines)
    return effects
  }
}
