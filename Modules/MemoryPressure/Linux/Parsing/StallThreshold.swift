#if os(Linux)
  internal import OperationControlGroups

  /// The setting of a trigger on a pressure file: how long tasks may wait for memory within a window.
  struct StallThreshold: Hashable, Sendable {
    var kind: StallKind
    /// How long tasks may wait, in microseconds.
    var stall: UInt64
    /// The length of the window, in microseconds. Without privileges the kernel accepts only multiples of two seconds.
    var window: UInt64

    static let warning = StallThreshold(kind: .some, stall: 150_000, window: 2_000_000)
    static let critical = StallThreshold(kind: .full, stall: 100_000, window: 2_000_000)

    init(kind: StallKind, stall: UInt64, window: UInt64) {
      self.kind = kind
      self.stall = stall
      self.window = window
    }

    /// Parses the text that sets a trigger on a pressure file: `some 150000 2000000`, with an optional zero byte at its
    /// end.
    init?(parsing bytes: some Sequence<UInt8>) {
      let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count == 3, let kind = StallKind(rawValue: String(words[0])) else { return nil }
      guard let stall = UInt64(decimal: words[1].utf8), let window = UInt64(decimal: words[2].utf8) else { return nil }
      self.init(kind: kind, stall: stall, window: window)
    }

    /// The bytes that set the trigger. The kernel overwrites the last byte, so it must not be a digit.
    var bytes: [UInt8] {
      Array("\(self.kind.rawValue) \(self.stall) \(self.window)".utf8) + [0]
    }
  }
#endif
