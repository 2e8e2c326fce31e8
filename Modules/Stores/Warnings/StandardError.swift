internal import OperationPlatform

/// Prints to standard error, unbuffered.
enum StandardError {
  static func emit(_ text: String) {
    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
      var bytes = ContiguousArray(text.utf8)[...]
      while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        guard written > 0 else { return }
        bytes = bytes.dropFirst(written)
      }
    #endif
  }
}
