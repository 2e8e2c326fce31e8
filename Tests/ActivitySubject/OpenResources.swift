#if os(Linux)
  import Glibc

  /// The numbers of open descriptors and of threads that watch the system.
  struct OpenResources: CustomStringConvertible {
    let descriptorCount: Int
    let loopCount: Int

    init() {
      // Each count includes the descriptor that lists them.
      self.descriptorCount = Self.names(in: "/proc/self/fd").count
      self.loopCount = Self.names(in: "/proc/self/task").count { Self.name(ofThread: $0) == "operation-loop" }
    }

    var description: String { "\(self.descriptorCount) \(self.loopCount)" }

    private static func names(in folder: String) -> [String] {
      guard let stream = opendir(folder) else { return [] }
      defer { closedir(stream) }
      var names: [String] = []
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if !name.hasPrefix(".") { names.append(name) }
      }
      return names
    }

    private static func name(ofThread number: String) -> String {
      let file = open("/proc/self/task/\(number)/comm", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return "" }
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 32)
      let count = read(file, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 10 }, as: UTF8.self)
    }
  }
#endif
