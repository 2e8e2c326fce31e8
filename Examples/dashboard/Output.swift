import Dispatch
import Foundation

/// Where the rows go.
@MainActor
protocol Output {
  func show(_ rows: [Row])
  /// Calls `action` when the size of the output changes, until the result is cancelled.
  func onResize(_ action: @escaping @MainActor () -> Void) -> (any DispatchSourceSignal)?
  func close()
}

/// The output without a terminal: a line for each row that changes.
@MainActor
final class LineOutput: Output {
  private let start = ContinuousClock.now
  private var shown: [Row] = []

  init(page address: String?) {
    if let address { write("devtools: \(address)\n") }
  }

  func show(_ rows: [Row]) {
    let milliseconds = Int(self.start.duration(to: .now) / .milliseconds(1))
    for (index, row) in rows.enumerated() where !self.shown.indices.contains(index) || self.shown[index] != row {
      write("\(milliseconds) ms  \(row.line(width: 200))\n")
    }
    self.shown = rows
  }

  func onResize(_ action: @escaping @MainActor () -> Void) -> (any DispatchSourceSignal)? { nil }

  func close() {}
}

/// A terminal that shows all rows at once, and draws them again when one changes or its size does.
@MainActor
final class TerminalScreen: Output {
  private static let title = "Swift Operation: shared operations, live. ^C ends."
  private static let legend = "● fresh   … loading   ↻ waits for another attempt   ✗ failed"

  private let page: String?

  /// Nil if the standard output is no terminal.
  init?(page address: String?) {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    self.page = address.map { "devtools: \($0)" }
    // The alternate screen, without a cursor.
    write("\u{1B}[?1049h\u{1B}[?25l")
  }

  func show(_ rows: [Row]) {
    let (width, height) = Self.size
    var lines = [Self.title, ""] + rows.map { $0.line(width: width) } + ["", Self.legend]
    if let page { lines.append(page) }
    lines = lines.prefix(max(1, height)).map { String($0.prefix(width)) }
    // Each line clears what is behind it, so that nothing flickers; the last clears what is below.
    let text = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
    write("\u{1B}[H" + text + "\u{1B}[J")
  }

  func onResize(_ action: @escaping @MainActor () -> Void) -> (any DispatchSourceSignal)? {
    signal(SIGWINCH, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .main)
    source.setEventHandler { MainActor.assumeIsolated { action() } }
    source.activate()
    return source
  }

  func close() {
    write("\u{1B}[?25h\u{1B}[?1049l")
  }

  /// The columns and rows of the terminal; 80 by 24 if it does not say.
  private static var size: (width: Int, height: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}

/// Writes all of a text at once, so that no frame is torn by a buffer.
private func write(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
}
