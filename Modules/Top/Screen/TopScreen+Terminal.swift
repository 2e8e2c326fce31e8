extension TopScreen {
  /// What a terminal has to be sent to show lines: each is drawn over what is there, so that nothing flickers.
  package static func sequence(of lines: [Line]) -> String {
    let texts = lines.map { "\($0.style.sequence)\($0.text)\u{1B}[0m\u{1B}[K" }
    return "\u{1B}[H" + texts.joined(separator: "\r\n") + "\u{1B}[J"
  }

  /// Begins a screen of its own, without a cursor.
  package static let opening = "\u{1B}[?1049h\u{1B}[?25l"
  /// Ends it.
  package static let closing = "\u{1B}[?25h\u{1B}[?1049l"
}

extension TopScreen.Line.Style {
  fileprivate var sequence: String {
    switch self {
    case .plain: ""
    case .bold: "\u{1B}[1m"
    case .inverse: "\u{1B}[7m"
    case .faint: "\u{1B}[2m"
    case .good: "\u{1B}[32m"
    case .busy: "\u{1B}[36m"
    case .waiting: "\u{1B}[33m"
    case .bad: "\u{1B}[31m"
    }
  }
}
