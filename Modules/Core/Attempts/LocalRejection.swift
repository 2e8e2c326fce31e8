/// An error of a run that was rejected on this side before its operation began, such as an open breaker's.
///
/// Breakers, limits and the like do not count such a run: it says nothing about the service, and has not used it. An
/// attempt is a body that began.
///
/// An error of your own conforms where its operation rejects runs by itself. An enumeration whose cases are not all
/// rejections returns true for the others:
///
/// ```swift
/// extension UploadError: LocalRejection {
///   var hasBegun: Bool { self != .tooManyUploads }
/// }
/// ```
public protocol LocalRejection: Error {
  /// Whether the operation has begun nevertheless, for example in an earlier attempt of the run. False by default.
  var hasBegun: Bool { get }

  /// Returns the error of a run whose operation has begun in an earlier attempt. The same error by default.
  ///
  /// A retry throws it where its last attempt was rejected, and an earlier one was not.
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
