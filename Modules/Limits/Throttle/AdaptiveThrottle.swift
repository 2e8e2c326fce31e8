public import OperationCore
internal import Synchronization

/// Rejects runs by the share that the service has not accepted lately, so that an overloaded service gets fewer of them.
///
/// ```swift
/// let throttle = AdaptiveThrottle(multiplier: 2, name: "posts")
/// let query = PostQuery(id: 1).limited(by: throttle)
/// ```
///
/// A service that rejects a request still spends something on it. The throttle counts the runs that were wanted in the last
/// `window`, and those that the service has accepted. It rejects a run with the probability
///
/// > max(0, (requests − multiplier × accepts) / (requests + 1))
///
/// While the service accepts half of the runs, nothing is rejected here with a multiplier of 2. While it accepts none, the
/// throttle lets through one of a hundred, and at least one a second, and so finds out when the service is back: when it
/// has accepted nearly all that it got for a short while, the share that is let through doubles every fortieth of the
/// window, and is all of them within one window. It needs no state of open and closed.
///
/// A cancelled run, and one that another limit or a breaker rejects, does not count. Runs do not wait for the throttle.
///
/// The formula is the one of "client-side throttling" in
/// [*Site Reliability Engineering*, chapter 21](https://sre.google/sre-book/handling-overload/), with its two minutes as the
/// default window.
public final class AdaptiveThrottle: OperationLimit {
  /// False: what counts is whether the service accepts a run, and it is told at once.
  public static var countsWork: Bool { false }

  /// The permit of a run that is let through.
  public struct Permit: Sendable {
    let slice: Int128
    let window: UInt64
  }

  private struct State: Sendable {
    var multiplier: Double
    var window: AcceptWindow
    var recovery: ThrottleRecovery
    /// Distinguishes the windows of the throttle.
    var windowNumber: UInt64 = 0
    var rejections = 0

    init(multiplier: Double, window: Duration) {
      self.multiplier = multiplier
      self.window = AcceptWindow(length: window)
      self.recovery = ThrottleRecovery(window: window)
    }

    /// The probability with which the next run is rejected.
    var rejectionProbability: Double { self.recovery.probability(self.countedProbability) }

    /// The probability by the counts of the window.
    private var countedProbability: Double {
      let (requests, accepts) = (Double(self.window.requests), Double(self.window.accepts))
      return max(0, (requests - self.multiplier * accepts) / (requests + 1))
    }

    mutating func advance(to now: Duration) {
      self.window.advance(to: now)
      let (counted, multiplier) = (self.countedProbability, self.multiplier)
      guard let end = self.recovery.advance(to: now, counted: counted, multiplier: multiplier) else { return }
      self.window.restart(requests: end.runs, accepts: end.accepts)
    }

    mutating func setWindow(_ window: Duration) {
      self.window = AcceptWindow(length: window)
      self.recovery = ThrottleRecovery(window: window)
      self.windowNumber += 1
    }
  }

  /// The name of the throttle in errors, notices and texts; nil without a name.
  public let name: String?

  private let state: Mutex<State>
  private let lastFailure = LastFailure()
  private let accepts: @Sendable (any Error) -> Bool
  private let random: @Sendable () -> Double

  /// Creates a throttle.
  ///
  /// An impossible number is reported with a warning, and the default is used.
  ///
  /// - Parameters:
  ///   - multiplier: How many times more runs reach the service than it accepts, at least 1 and finite. Less than 2 rejects
  ///     more here, and sees later that the service is back.
  ///   - window: How far back runs are counted, longer than zero. Its resolution is a tenth of its length.
  ///   - name: The name of the throttle in errors, notices and texts, without user data.
  ///   - random: Returns a number from 0 up to 1 for each decision.
  ///   - accepts: Whether an error means that the service has accepted the run, such as a missing page. It is not called
  ///     for cancelled runs and local rejections.
  public init(
    multiplier: Double = 2,
    window: OperationDuration = .seconds(120),
    name: String? = nil,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    accepts: @escaping @Sendable (any Error) -> Bool = { _ in false }
  ) {
    let refusesMultiplier = OperationWarning.refuses(
      Self.problem(multiplier: multiplier, window: nil),
      by: name ?? "AdaptiveThrottle"
    )
    let refusesWindow = OperationWarning.refuses(
      Self.problem(multiplier: nil, window: window),
      by: name ?? "AdaptiveThrottle"
    )
    self.name = name
    self.random = random
    self.accepts = accepts
    self.state = Mutex(
      State(
        multiplier: refusesMultiplier ? 2 : multiplier,
        window: refusesWindow ? .seconds(120) : window.clampedForClock
      )
    )
  }

  private static func problem(multiplier: Double?, window: Duration?) -> String? {
    if let multiplier, !(multiplier >= 1 && multiplier.isFinite) {
      return "A throttle cannot let through \(multiplier) times as many runs as are accepted. Pass 1 or more."
    }
    if let window, window <= .zero { return "A throttle cannot count runs for \(window). Pass a positive duration." }
    return nil
  }

  /// Takes a permit if the service accepts enough; nil if chance decides about the run.
  public func takePermit(in context: OperationContext) -> Permit? {
    self.permit(at: context.elapsed) { $0 == 0 }
  }

  /// Takes a permit or rejects the run at once.
  ///
  /// - Throws: ``OperationRejected``.
  public nonisolated(nonsending) func waitForPermit(
    in context: OperationContext,
    maximumWait: OperationDuration?
  ) async throws -> Permit {
    // Called before locking, because it may be user code.
    let number = self.random()
    // A number that is not one admits the run.
    let permit = self.permit(at: context.elapsed, countingRejection: true) { !(number < $0) }
    if let permit { return permit }
    throw OperationRejected(retryAfter: nil, name: self.name, lastFailure: self.lastFailure.current)
  }

  /// Counts the outcome of a run.
  public func returnPermit(_ permit: Permit, after use: OperationPermitUse, in context: OperationContext) {
    let isAccepted: Bool?
    switch use {
    case .succeeded: isAccepted = true
    case .failed(let error):
      self.lastFailure.set(error)
      isAccepted = self.accepts(error)
    case .cancelled, .unused: isAccepted = nil
    }
    let now = context.elapsed
    self.state.withLock { state in
      guard permit.window == state.windowNumber else { return }
      state.advance(to: now)
      guard let isAccepted else { return state.window.removeRequest(of: permit.slice) }
      state.recovery.note(isAccepted: isAccepted)
      if isAccepted { state.window.addAccept() }
    }
  }

  /// Counts a run that is admitted, or one that is rejected.
  private func permit(
    at now: Duration,
    countingRejection countsRejection: Bool = false,
    if isAdmitted: (Double) -> Bool
  ) -> Permit? {
    self.state.withLock { state in
      state.advance(to: now)
      guard state.recovery.isProbe(at: now) || isAdmitted(state.rejectionProbability) else {
        // What the client wants counts as well: the more it rejects, the surer it is.
        if countsRejection {
          _ = state.window.addRequest()
          state.rejections += 1
        }
        return nil
      }
      state.recovery.noteRun(at: now)
      return Permit(slice: state.window.addRequest(), window: state.windowNumber)
    }
  }
}

// MARK: - While it runs

extension AdaptiveThrottle {
  /// Changes the throttle while it runs.
  ///
  /// Another multiplier holds from the next run on. With a window of another length the counts begin anew, and the outcomes
  /// of the runs that are under way do not count.
  ///
  /// Impossible settings are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - multiplier: How many times more runs reach the service than it accepts, at least 1 and finite; nil to keep it.
  ///   - window: How far back runs are counted, longer than zero; nil to keep it.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/limitChanged``.
  /// - Returns: Whether the settings are possible.
  @discardableResult
  public func update(
    multiplier: Double? = nil,
    window: OperationDuration? = nil,
    in context: OperationContext? = nil
  ) -> Bool {
    let problem = Self.problem(multiplier: multiplier, window: window)
    if OperationWarning.refuses(problem, by: self.name ?? "AdaptiveThrottle") { return false }
    let (earlier, current) = self.state.withLock { state in
      let earlier = (multiplier: state.multiplier, window: state.window.length)
      if let multiplier { state.multiplier = multiplier }
      if let window = window?.clampedForClock, window != state.window.length {
        state.setWindow(window)
      }
      return (earlier, (multiplier: state.multiplier, window: state.window.length))
    }
    var change = SettingsChange(of: self.name)
    change.add("limit.multiplier", from: .number(earlier.multiplier), to: .number(current.multiplier))
    change.add("limit.window", from: .duration(earlier.window), to: .duration(current.window))
    context?.send(.limitChanged, of: change)
    return true
  }

  /// The counts of the throttle at the last time that it knows.
  public func snapshot() -> AdaptiveThrottleSnapshot {
    self.state.withLock { state in
      AdaptiveThrottleSnapshot(
        name: self.name ?? "AdaptiveThrottle",
        multiplier: state.multiplier,
        requests: state.window.requests,
        accepts: state.window.accepts,
        rejectionProbability: state.rejectionProbability,
        rejections: state.rejections
      )
    }
  }
}

extension AdaptiveThrottle: CustomStringConvertible {
  /// The counts of the throttle: its ``snapshot()``.
  public var description: String { "Adaptive throttle \(self.snapshot())" }
}

/// The counts of an ``AdaptiveThrottle`` at one moment, for logs, status pages and gauges.
public struct AdaptiveThrottleSnapshot: OperationResilienceSnapshot, Hashable {
  /// The name of the throttle; `AdaptiveThrottle` for one without a name.
  public let name: String

  /// How many times more runs reach the service than it accepts.
  public let multiplier: Double

  /// The number of runs that were wanted in the window, rejected ones included.
  public let requests: Int

  /// The number of runs that the service has accepted in the window.
  public let accepts: Int

  /// The probability with which the next run is rejected.
  public let rejectionProbability: Double

  /// How many runs the throttle has rejected since it was created.
  public let rejections: Int

  public var gauges: [String: Double] {
    [
      "throttle.multiplier": self.multiplier, "throttle.requests": Double(self.requests),
      "throttle.accepts": Double(self.accepts),
      "throttle.probability": self.rejectionProbability, "limit.rejections": Double(self.rejections),
    ]
  }

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): \(self.accepts) of \(self.requests) runs accepted, \(self.rejections) rejected here, the next with a \
    probability of \(self.rejectionProbability)
    """
  }
}
