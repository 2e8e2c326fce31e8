import Foundation
import OperationScheduling

/// Shows progress: a bar on a terminal, and plain lines where the output goes elsewhere.
struct ProgressOutput {
  private static let width = 40

  private let isTerminal = isatty(STDOUT_FILENO) == 1
  private var lastTenth = -1

  mutating func show(_ counts: OperationProgress.Counts) {
    if self.isTerminal {
      let filled = Int(counts.fraction * Double(Self.width))
      let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
      Self.write("\r[\(bar)] \(counts.completed) of \(counts.total)")
      if counts.completed == counts.total { Self.write("\n") }
    } else {
      let tenth = Int(counts.fraction * 10)
      guard tenth > self.lastTenth else { return }
      self.lastTenth = tenth
      Self.write("\(counts.completed) of \(counts.total) operations\n")
    }
  }

  static func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
