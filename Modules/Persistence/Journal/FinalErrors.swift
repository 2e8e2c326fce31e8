/// Which errors of a mutation end a journaled call for good, because further attempts would not change them.
public struct FinalErrors<Failure: Error>: Sendable {
  let contains: @Sendable (Failure) -> Bool

  /// The errors for which `isFinal` returns true.
  ///
  /// - Parameter isFinal: Receives each error with which an attempt of a call ends. Called with no lock held.
  /// - Returns: The errors.
  public static func `where`(_ isFinal: @escaping @Sendable (Failure) -> Bool) -> Self { Self(contains: isFinal) }
}
