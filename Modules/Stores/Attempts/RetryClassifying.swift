/// An error that says whether another attempt can succeed.
///
/// ```swift
/// extension UploadError: RetryClassifying {
///   var retryClassification: RetryClassification { self == .invalidFile ? .never : .retry }
/// }
/// ```
public protocol RetryClassifying: Error {
  /// Whether, and when, another attempt can succeed.
  var retryClassification: RetryClassification { get }
}

/// Whether, and when, another attempt after an error can succeed.
@nonexhaustive(warn)
public enum RetryClassification: Hashable, Sendable {
  /// Another attempt can succeed, after the usual delay.
  case retry

  /// Another attempt can succeed once this time has passed since the failure.
  case retryAfter(OperationDuration)

  /// Another attempt cannot succeed.
  case never
}
