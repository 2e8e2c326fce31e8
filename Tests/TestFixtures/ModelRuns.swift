import Foundation
package import Testing

/// Random schedules of a model test: more with `MODEL_SCHEDULES`, such as `MODEL_SCHEDULES=10000` for so many of each test.
///
/// `Scripts/check --all` asks for so many: the simulator of a fleet runs 100,000 then.
package enum ModelRuns {
  /// The seeds of a test, each of which runs a part of the schedules.
  package static let seeds: Range<UInt64> = 0..<4

  /// How many schedules a test runs without a division into seeds: the usual number, or what is asked for if that is more.
  ///
  /// - Parameters:
  ///   - usual: The number of schedules of each part without `MODEL_SCHEDULES`.
  ///   - parts: Into how many parts the schedules that are asked for are divided.
  ///   - weight: How many schedules the test runs for each that is asked for.
  /// - Returns: The number of schedules of each part.
  package static func count(_ usual: Int, parts: Int = 1, weight: Int = 1) -> Int {
    max(usual, self.asked * weight / parts)
  }

  /// Whether more schedules are asked for than the usual ones.
  package static var isThorough: Bool { self.asked > 0 }

  /// The first element and every so many after it; all of them where more schedules are asked for.
  package static func part<Element>(of elements: [Element], every distance: Int) -> [Element] {
    self.isThorough ? elements : elements.indices.filter { $0.isMultiple(of: distance) }.map { elements[$0] }
  }

  private static var asked: Int { ProcessInfo.processInfo.environment["MODEL_SCHEDULES"].flatMap { Int($0) } ?? 0 }

  /// Runs schedules until one of them differs from its model, which is an issue.
  ///
  /// - Parameters:
  ///   - usual: The number of schedules without `MODEL_SCHEDULES`.
  ///   - seed: The seed of all of them.
  ///   - sourceLocation: Where the issue is reported.
  ///   - failure: Runs one schedule, and returns what differs.
  package nonisolated(nonsending) static func check(
    _ usual: Int,
    seed: UInt64,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ failure: (inout SeededGenerator) async -> String?
  ) async {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<max(usual, self.asked / self.seeds.count) {
      guard let failure = await failure(&generator) else { continue }
      Issue.record("schedule \(number) of seed \(seed): \(failure)", sourceLocation: sourceLocation)
      return
    }
  }
}
