public import OperationCore

/// Computes how long to wait before each new attempt.
///
/// ```swift
/// let backoff = OperationBackoffFunction.exponential(.seconds(1)).jittered().capped(at: .seconds(30))
/// let delay = backoff(1)  // Before the first retry: between 0 and 1 s.
/// ```
///
/// Every attempt has a delay, which is never negative; a negative duration counts as zero. Growth stops at the cap, or
/// at the longest duration whose `components` can be read, about 292 billion years.
///
/// The order of ``capped(at:)`` and ``jittered(_:)`` does not matter: the cap always limits the range from which the
/// jitter draws. If it limited the drawn delays instead, all delays above the cap would become equal, and the attempts
/// would happen together, which the jitter is meant to prevent.
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

  /// Creates a custom function.
  ///
  /// - Parameters:
  ///   - description: Describes the function.
  ///   - function: Receives the number of the attempt, 1 before the first retry, and returns the delay; a negative
  ///     delay counts as zero.
  public init(_ description: String = "Custom", _ function: @escaping @Sendable (Int) -> OperationDuration) {
    self.init(name: description, growth: .custom(function))
  }

  /// The delay before an attempt; the first retry is attempt 1.
  public func callAsFunction(_ attempt: Int) -> OperationDuration {
    let limit = self.cap ?? .longest
    let delay = min(self.growth.delay(before: attempt, limit: limit), limit)
    return self.jitters.reduce(delay) { $1.delay(around: $0, limit: limit) }.duration
  }
}

extension OperationBackoffFunction: CustomStringConvertible {
  /// The description of the function, with its cap and its jitter.
  public var description: String {
    let cap = self.cap.map { ", at most \($0.duration)" } ?? ""
    return self.jitters.reduce(self.name + cap) { "\($0), with \($1.jitter)" }
  }
}

extension OperationBackoffFunction {
  /// Limits the delays to `cap`; of several caps the smallest applies.
  ///
  /// A jitter draws from the limited range, whether it is applied before or after the cap.
  public func capped(at cap: OperationDuration) -> Self {
    var copy = self
    copy.cap = min(Delay(cap), self.cap ?? .longest)
    return copy
  }
}
