import Foundation

/// Tells on standard output what happens while it happens: seconds, who, what.
struct Account: Sendable {
  /// Who a line is about.
  enum Voice: String, CaseIterable, Sendable {
    case agent, network, activity, memory, heartbeat, settings, store, warning
  }

  private static let width = Voice.allCases.map(\.rawValue.count).max() ?? 0

  private let start = ContinuousClock.now

  func say(_ voice: Voice, _ text: String) {
    let milliseconds = Int(self.start.duration(to: .now) / .milliseconds(1))
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    let seconds = "\(milliseconds / 1000).\(fraction)"
    let name = voice.rawValue.padding(toLength: Self.width, withPad: " ", startingAt: 0)
    let margin = String(repeating: " ", count: max(0, 8 - seconds.count))
    // In one piece, so that lines of different threads do not mix.
    try? FileHandle.standardOutput.write(contentsOf: Data("\(margin)\(seconds)  \(name)  \(text)\n".utf8))
  }
}
