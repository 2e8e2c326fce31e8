internal import OperationCore

/// When calls begin.
enum PaceRule: Sendable {
  case debounce(Duration, leading: Bool)
  case throttle(Duration)

  var sourceText: String {
    switch self {
    case .debounce(let delay, let leading): ".debounced(for: \(delay.roundedText)\(leading ? ", leading: true" : ""))"
    case .throttle(let period): ".throttled(for: \(period.roundedText))"
    }
  }
}

/// Which call of a group counts, and for how long it waits.
struct PaceMachine: Sendable {
  enum Entry: Sendable {
    /// A new call, what gives way to it, and for how long it waits.
    case new(Replaced?, wait: Duration)
    /// Another attempt of the run that counts, and the call of the attempt before, for its release.
    case again(PacedCall?)
    /// Another attempt of a run that has given way.
    case late
  }

  /// A call that gives way.
  struct Replaced: Sendable {
    let call: PacedCall
    let isRunning: Bool
  }

  /// The newest call; nil once it has ended.
  private var newest: PacedCall?
  private var isRunning = false
  /// The run of the newest call, also after that has ended: a retry calls again.
  private var newestRun: OperationTaskIdentifier?
  /// Until when a call counts as one that follows another.
  private var quietFrom: Duration?
  /// When the next run may begin.
  private var nextBegin: Duration?

  /// Whether the next call would find nothing of those before.
  func isQuiet(at now: Duration) -> Bool {
    self.newest == nil && (self.quietFrom ?? now) <= now && (self.nextBegin ?? now) <= now
  }

  mutating func enter(_ call: PacedCall, by rule: PaceRule, at now: Duration) -> Entry {
    if let run = call.run, let newestRun {
      if run < newestRun { return .late }
      if run == newestRun {
        let former = self.newest
        (self.newest, self.isRunning) = (call, true)
        return .again(former)
      }
    }
    let replaced = self.newest.map { Replaced(call: $0, isRunning: self.isRunning) }
    let wait: Duration
    switch rule {
    case .debounce(let delay, let leading):
      let follows = now < (self.quietFrom ?? now)
      self.quietFrom = now + delay
      wait = leading && !follows ? .zero : delay
    case .throttle(let period):
      wait = max(.zero, (self.nextBegin ?? now) - now)
      if wait == .zero { self.nextBegin = now + period }
    }
    (self.newest, self.newestRun, self.isRunning) = (call, call.run, wait == .zero)
    return .new(replaced, wait: wait)
  }

  /// Lets a call begin that has waited. False if it has given way.
  mutating func begin(_ call: PacedCall, by rule: PaceRule, at now: Duration) -> Bool {
    guard self.newest === call else { return false }
    self.isRunning = true
    if case .throttle(let period) = rule { self.nextBegin = now + period }
    return true
  }

  /// Forgets a call that has ended, and returns it for its release.
  mutating func end(_ call: PacedCall) -> PacedCall? {
    guard self.newest === call else { return nil }
    self.isRunning = false
    return self.newest.take()
  }
}
