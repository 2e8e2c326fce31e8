#if os(Linux)
  internal import OperationControlGroups
  internal import OperationPlatform

  /// The signal descriptors (`signalfd`) of the process, from which event sources read.
  enum SignalReaders {
    /// Whether a descriptor receives the signal. False without a process file system.
    static func exist(for signal: ProcessSignal, procRoot: String = "/proc") -> Bool {
      let folder = procRoot + "/self/fdinfo"
      guard let stream = opendir(folder) else { return false }
      defer { closedir(stream) }
      while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        guard !name.hasPrefix("."), let text = FileText.read(folder + "/" + name) else { continue }
        if Self.mask(parsing: text) & (1 << UInt64(signal.rawValue - 1)) != 0 { return true }
      }
      return false
    }

    /// The signals that a descriptor receives; none for a descriptor of another kind.
    ///
    ///     sigmask:	0000000000020000
    static func mask(parsing text: String) -> UInt64 {
      for line in text.split(separator: "\n") {
        let words = line.split(whereSeparator: \.isWhitespace)
        if words.count == 2, words[0] == "sigmask:" { return UInt64(words[1], radix: 16) ?? 0 }
      }
      return 0
    }
  }
#endif
