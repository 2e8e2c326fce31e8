internal import OperationCore

/// The error for an element of a path that has no key.
struct NoStorageKey: Error {
  /// The type of the value: the type of the element or of a part of it.
  let type: any Any.Type

  /// Reports that what is at a path cannot be stored.
  func report(at path: OperationPath) {
    OperationWarning(
      code: .unstorablePath,
      message: """
        No value can be stored at \(ShownText.of(path)), because the path has an element with a value of type \
        \(self.type), which has no key that is the same in each process. Use strings, numbers, and other types that \
        are `RawRepresentable` or `Codable` and neither private nor local, or conform the type to \
        `StorageKeyConvertible`.
        """
    ).report()
  }
}
