import Foundation

/// Prints what happens, as it happens: seconds, the part of the program, the event.
struct Transcript: Sendable {
  /// The part of the program that a line is about.
  enum Source: String, CaseIterable, Sendable {
    case agent, network, activity, memory, heartbeat, settings, store, warning
  }

  private static let width = Source.allCases.map(\.rawValue.count).max() ?? 0

  private let start = ContinuousClock.now

  func say(_ source: Source, _ text: String) {
    let milliseconds = Int(self.start.duration(to: .now) / .milliseconds(1))
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    let seconds = "\(milliseconds / 1000).\(fraction)"
    let name = source.rawValue.padding(toLength: Self.width, withPad: " ", startingAt: 0)
    let margin = String(repeating: " ", count: max(0, 8 - seconds.count))
    // In one piece, so that lines of different threads do not mix.
    try? FileHandle.standardOutput.write(contentsOf: Data("\(margin)\(seconds)  \(name)  \(text)\n".utf8))
  }
}
