import Foundation

/// Colours for a terminal, and none for a pipe or a file.
package struct Paint: Sendable {
  package enum Style: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36
  }

  package let isOn: Bool

  /// Colours when standard output is a terminal and the user has not set `NO_COLOR`.
  package static var forStandardOutput: Self {
    let refuses = ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty == false
    return Self(isOn: !refuses && isatty(STDOUT_FILENO) == 1)
  }

  package func callAsFunction(_ text: String, _ style: Style) -> String {
    self.isOn ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}
