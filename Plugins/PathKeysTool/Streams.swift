#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Writes to the standard output and the standard error stream.
enum Streams {
  static func write(_ text: String) { send(text, to: STDOUT_FILENO) }

  /// Writes error messages, and exits.
  static func end(with messages: [String]) -> Never {
    send(messages.map { $0 + "\n" }.joined(), to: STDERR_FILENO)
    exit(EXIT_FAILURE)
  }
}

private func send(_ text: String, to descriptor: Int32) {
  var rest = Array(text.utf8)[...]
  while !rest.isEmpty {
    let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard written > 0 else { return }
    rest = rest.dropFirst(written)
  }
}
