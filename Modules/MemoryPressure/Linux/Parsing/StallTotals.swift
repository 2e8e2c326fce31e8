#if os(Linux)
  internal import OperationControlGroups

  /// The totals of a pressure file: for how many microseconds tasks have waited for a resource.
  struct StallTotals: Hashable, Sendable {
    /// The time in which at least one task waited.
    var some: UInt64?
    /// The time in which all tasks waited.
    var full: UInt64?

    /// Parses the lines of the file; nil if they contain no total.
    ///
    ///     some avg10=0.00 avg60=0.00 avg300=0.00 total=0
    ///     full avg10=0.00 avg60=0.00 avg300=0.00 total=0
    init?(parsing text: String) {
      for line in text.split(separator: "\n") {
        let words = line.utf8.split(separator: UInt8(ascii: " "))
        guard let kind = words.first, let total = words.lazy.compactMap({ Self.total(in: $0) }).first else { continue }
        if kind.elementsEqual("some".utf8) { self.some = total }
        if kind.elementsEqual("full".utf8) { self.full = total }
      }
      if self.some == nil, self.full == nil { return nil }
    }

    private static func total(in word: Substring.UTF8View) -> UInt64? {
      let name = "total=".utf8
      guard word.starts(with: name) else { return nil }
      return UInt64(decimal: word.dropFirst(name.count))
    }

    /// The total of one kind.
    subscript(kind: StallKind) -> UInt64? {
      switch kind {
      case .some: self.some
      case .full: self.full
      }
    }
  }

  /// Which tasks wait: at least one, or all of them.
  enum StallKind: String, Hashable, Sendable {
    case some
    case full

    /// The memory pressure that stalls of this kind stand for.
    var pressure: MemoryPressure {
      switch self {
      case .some: .warning
      case .full: .critical
      }
    }
  }
#endif
