/// A key of a terminal.
package enum TopKey: Hashable, Sendable {
  case character(Character)
  case up
  case down
  case pageUp
  case pageDown
  case home
  case end
  case enter
  case escape
  case backspace
  case interrupt

  /// Reads the keys in what a terminal has sent at once.
  package static func keys(in bytes: [UInt8]) -> [TopKey] {
    var keys: [TopKey] = []
    var rest = String(decoding: bytes, as: UTF8.self)[...]
    while let first = rest.first {
      if let (sequence, key) = self.sequences.first(where: { rest.hasPrefix($0.0) }) {
        keys.append(key)
        rest.removeFirst(sequence.count)
        continue
      }
      rest.removeFirst()
      switch first {
      case "\u{1B}":
        // The beginning of a key that has no meaning here, or the key itself.
        if rest.first == "[" || rest.first == "O" {
          rest = rest.dropFirst().drop { !$0.isLetter && $0 != "~" }.dropFirst()
        } else {
          keys.append(.escape)
        }
      case "\r", "\n": keys.append(.enter)
      case "\u{7F}", "\u{8}": keys.append(.backspace)
      case "\u{3}": keys.append(.interrupt)
      case _ where first.unicodeScalars.first.map({ $0.value >= 0x20 }) == true: keys.append(.character(first))
      default: break
      }
    }
    return keys
  }

  private static let sequences: [(String, TopKey)] = [
    ("\u{1B}[A", .up), ("\u{1B}[B", .down), ("\u{1B}OA", .up), ("\u{1B}OB", .down), ("\u{1B}[5~", .pageUp),
    ("\u{1B}[6~", .pageDown), ("\u{1B}[H", .home), ("\u{1B}[F", .end), ("\u{1B}OH", .home), ("\u{1B}OF", .end),
    ("\u{1B}[1~", .home), ("\u{1B}[4~", .end),
  ]
}
