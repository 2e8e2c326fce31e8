internal import OperationPlatform

/// The arguments of the process.
enum ProcessArguments {
  /// All arguments; nil if they cannot be read.
  static var all: [String]? {
    #if os(Linux)
      self.read("/proc/self/cmdline")
    #else
      CommandLine.arguments
    #endif
  }

  #if os(Linux)
    /// Reads the arguments from the kernel's file, because `CommandLine` aborts the process if that file is missing.
    static func read(_ path: String) -> [String]? {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = readBytes(file, &buffer)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return nil }
        guard count > 0 else { break }
        bytes += buffer.prefix(count)
      }
      let arguments = bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
      return arguments.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func readBytes(_ file: CInt, _ buffer: inout [UInt8]) -> Int {
      buffer.withUnsafeMutableBytes { bytes in
        OperationPlatform.read(file, bytes.baseAddress, bytes.count)
      }
    }
  #endif
}
