/// Which values, or arguments of calls, are not stored and do not leave the process.
public struct StorageExclusion<Value>: Sendable {
  let contains: @Sendable (Value) -> Bool

  /// The values for which `isExcluded` returns true.
  ///
  /// - Parameter isExcluded: Receives each value that is about to be stored. Called with no lock held.
  /// - Returns: The values.
  public static func `where`(_ isExcluded: @escaping @Sendable (Value) -> Bool) -> Self { Self(contains: isExcluded) }
}
