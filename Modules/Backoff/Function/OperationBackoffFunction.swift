public import OperationCore

/// Says how long to wait before each attempt to do something again.
///
/// ```swift
/// let backoff = OperationBackoffFunction.exponential(.seconds(1)).jittered().capped(at: .seconds(30))
/// let delay = backoff(1)  // Before the first retry: something between 0 and 1 s.
/// ```
///
/// A delay is defined for every attempt and is never negative; a negative duration counts as zero. What grows stops at the
/// longest duration whose `components` can be read, about 292 billion years, or at the cap.
///
/// What makes up a function is kept apart, so that the order of ``capped(at:)`` and ``jittered(_:)`` does not matter: a cap
/// always cuts the range from which a jitter draws. Cut afterwards, the delays of all who are past the cap would be the
/// same, and they would come back together, which is what the jitter is there to prevent.
public struct OperationBackoffFunction: Sendable {
  let name: String
  let growth: BackoffGrowth
  var cap: Delay?
  var jitters: [AppliedJitter] = []

  init(name: String, growth: BackoffGrowth, cap: Delay? = nil) {
    self.name = name
    self.growth = growth
    self.cap = cap
  }

  /// Creates a function of your own.
  ///
  /// - Parameters:
  ///   - description: Describes the function.
  ///   - function: Gets the number of the attempt, 1 before the first retry, and returns the delay; a negative one counts
  ///     as zero.
  public init(_ description: String = "Custom", _ function: @escaping @Sendable (Int) -> OperationDuration) {
    self.init(name: description, growth: .custom(function))
  }

  /// The delay before an attempt: 1 stands for the first retry.
  public func callAsFunction(_ attempt: Int) -> OperationDuration {
    let limit = self.cap ?? .longest
    let delay = min(self.growth.delay(before: attempt, limit: limit), limit)
    return self.jitters.reduce(delay) { $1.delay(around: $0, limit: limit) }.duration
  }
}

extension OperationBackoffFunction: CustomStringConvertible {
  /// What the function was described with, its cap and its jitter.
  public var description: String {
    let cap = self.cap.map { ", at most \($0.duration)" } ?? ""
    return self.jitters.reduce(self.name + cap) { "\($0), with \($1.jitter)" }
  }
}

extension OperationBackoffFunction {
  /// This function, with no delay longer than `cap`; with several caps, than the smallest.
  ///
  /// A jitter draws from what the cap leaves, whether it is applied before or after the cap.
  public func capped(at cap: OperationDuration) -> Self {
    var copy = self
    copy.cap = min(Delay(cap), self.cap ?? .longest)
    return copy
  }
}
