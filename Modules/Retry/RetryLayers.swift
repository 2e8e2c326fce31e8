internal import OperationCore

/// A layer around an operation that knows from its type alone whether it contains a retry.
// By type, as a context that was set up for another operation, or for none, does not know the retries of this one.
private protocol RetryLayer {
  static var hasRetryInside: Bool { get }
}

/// A modifier that retries.
private protocol RetryModifier {}

extension Retry: RetryModifier {}

extension ModifiedOperation: RetryLayer {
  fileprivate static var hasRetryInside: Bool { Modifier.self is any RetryModifier.Type || Operation.self.hasRetry }
}

extension DefaultStateOperation: RetryLayer {
  fileprivate static var hasRetryInside: Bool { Operation.self.hasRetry }
}

extension IdempotentOperation: RetryLayer {
  fileprivate static var hasRetryInside: Bool { Operation.self.hasRetry }
}

extension OperationRequest {
  /// Whether one of the modifiers around the operation is a retry.
  static var hasRetry: Bool { (self as? any RetryLayer.Type)?.hasRetryInside ?? false }
}
