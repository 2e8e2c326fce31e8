#if os(Linux)
  internal import OperationPlatform

  /// Reads the small files of `/proc` and `/sys`, which the kernel generates when they are read.
  package enum FileText {
    /// Larger than any of these files, including `mountinfo` on a busy machine.
    private static let limit = 4 << 20

    /// Reads a file; nil if it cannot be read.
    package static func read(_ path: String) -> String? {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      return Self.read(descriptor)
    }

    /// Reads an open file from its start, whatever its current offset.
    package static func read(_ descriptor: CInt) -> String? {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while bytes.count < Self.limit {
        let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(bytes.count)) }
        if count < 0 && errno == EINTR { continue }
        guard count >= 0 else { return nil }
        if count == 0 { break }
        bytes.append(contentsOf: buffer.prefix(count))
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the path leads to a directory.
    package static func isDirectory(_ path: String) -> Bool {
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether the path leads to anything.
    package static func exists(_ path: String) -> Bool {
      access(path, F_OK) == 0
    }
  }
#endif
