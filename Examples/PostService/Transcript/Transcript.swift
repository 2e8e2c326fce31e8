import Foundation
import Synchronization

/// Prints what happens, as it happens, and counts the checks and the failures.
package final class Transcript: Sendable {
  /// The part of the program that a line is about; its name is the second column.
  package enum Source: String, CaseIterable, Sendable {
    case caller, query, state, server, note, ok, wrong, skipped
  }

  private struct Tally {
    var checks = 0
    var wrong = 0
    var skipped = 0
  }

  private let start = ContinuousClock.now
  private let paint: Paint
  private let output: @Sendable (String) -> Void
  private let tally = Mutex(Tally())

  package init(
    paint: Paint = .forStandardOutput,
    output: @escaping @Sendable (String) -> Void = { try? FileHandle.standardOutput.write(contentsOf: Data($0.utf8)) }
  ) {
    self.paint = paint
    self.output = output
  }
}

extension Transcript {
  package func title(_ text: String) {
    self.output("\n" + self.paint(text, .bold) + "\n")
  }

  package func say(_ source: Source, _ text: String) {
    let seconds = self.start.duration(to: .now).seconds.padding(to: 8, alignment: .right)
    let name = self.paint(source.rawValue.padding(to: Source.width), source.colour)
    self.output("\(self.paint(seconds, .dim))  \(name)  \(text)\n")
  }

  package func skip(_ text: String) {
    self.tally.withLock { $0.skipped += 1 }
    self.say(.skipped, text)
  }
}

extension Transcript {
  /// Prints whether a claim holds, and counts it.
  @discardableResult
  package func check(_ claim: String, _ holds: Bool, found: @autoclosure () -> String? = nil) -> Bool {
    self.tally.withLock {
      $0.checks += 1
      $0.wrong += holds ? 0 : 1
    }
    let details = holds ? nil : found()
    self.say(holds ? .ok : .wrong, details.map { "\(claim); found \($0)" } ?? claim)
    return holds
  }

  @discardableResult
  package func check<Value: Equatable>(_ claim: String, _ value: Value, equals expected: Value) -> Bool {
    self.check(claim, value == expected, found: "\(value), expected \(expected)")
  }

  package func fail(_ text: String) {
    self.check(text, false)
  }

  /// Prints the totals. Returns true if there was a check and none has failed.
  package func close() -> Bool {
    let tally = self.tally.withLock { $0 }
    let seconds = self.start.duration(to: .now).seconds
    self.title(
      "\(tally.checks) \(tally.checks == 1 ? "check" : "checks"), \(tally.wrong) wrong, \(tally.skipped) skipped, \(seconds) s"
    )
    return tally.wrong == 0 && tally.checks > 0
  }
}

extension Transcript.Source {
  package static let width = Self.allCases.map(\.rawValue.count).max() ?? 0

  fileprivate var colour: Paint.Style {
    switch self {
    case .caller, .query: .blue
    case .state: .cyan
    case .server: .magenta
    case .note: .dim
    case .ok: .green
    case .wrong: .red
    case .skipped: .yellow
    }
  }
}
