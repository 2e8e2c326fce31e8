/// An error of a run that was rejected in this process before its operation began, for example by an open breaker.
///
/// Breakers, limits and the like do not count such a run, because it has not used the service and says nothing about
/// it. An attempt counts once its body has begun.
///
/// Conform your own error if your operation rejects runs by itself. If only some cases of an enumeration are
/// rejections, return true for the others:
///
/// ```swift
/// extension UploadError: LocalRejection {
///   var hasBegun: Bool { self != .tooManyUploads }
/// }
/// ```
public protocol LocalRejection: Error {
  /// Whether the operation has begun nevertheless, for example in an earlier attempt of the run. False by default.
  var hasBegun: Bool { get }

  /// Returns the error of a run with an operation that has begun in an earlier attempt. The same error by default.
  ///
  /// A retry throws it if its last attempt was rejected and an earlier attempt was not.
  func afterAttempt() -> Self
}

extension LocalRejection {
  public var hasBegun: Bool { false }

  public func afterAttempt() -> Self { self }
}

extension Error {
  /// Whether the run that throws this error was rejected before its operation began.
  // Not inlined: errors are rare.
  @inline(never)
  package var isLocalRejection: Bool { (self as? any LocalRejection).map { !$0.hasBegun } ?? false }
}
