/// An error that says when another attempt is useful, such as a server's answer with `Retry-After`.
///
/// ```swift
/// struct TooManyRequests: RetryHinting {
///   let retryAfter: OperationDuration?
/// }
/// ```
public protocol RetryHinting: Error {
  /// The time from the failure to the next useful attempt; nil if it is unknown.
  ///
  /// A retry clamps it: a negative hint counts as zero.
  var retryAfter: OperationDuration? { get }
}
