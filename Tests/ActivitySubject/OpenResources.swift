#if os(Linux)
  import Glibc

  /// The numbers of open descriptors and of threads that watch the system.
  struct OpenResources: CustomStringConvertible {
    let descriptorCount: Int
    let loopCount: Int

    init() {
      // Each count includes the descriptor that lists them.
      self.descriptorCount = Self.names(in: "/proc/self/fd").count
      self.loopCount = Self.names(in: "/proc/self/task").count { Self.isLoop($0) }
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

    /// Whether a thread is that of a loop. A thread that is exiting, which the kernel still lists for a moment after
    /// `pthread_join`, is not.
    private static func isLoop(_ number: String) -> Bool {
      let file = open("/proc/self/task/\(number)/stat", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return false }
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 512)
      let count = read(file, &bytes, bytes.count)
      let line = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      guard let end = line.lastIndex(of: ")"), line[..<end].hasSuffix("(operation-loop") else { return false }
      // The state, five numbers and the flags follow: see proc_pid_stat(5).
      let fields = line[end...].split(separator: " ")
      let isExiting: UInt32 = 4
      return fields.count > 7 && UInt32(fields[7]).map { $0 & isExiting == 0 } == true
    }
  }
#endif
