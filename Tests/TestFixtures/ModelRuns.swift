import Foundation

/// How many random schedules a model test runs: more with `MODEL_SCHEDULES`, such as `MODEL_SCHEDULES=100000`.
enum ModelRuns {
  static func count(_ usual: Int) -> Int {
    max(usual, ProcessInfo.processInfo.environment["MODEL_SCHEDULES"].flatMap { Int($0) } ?? 0)
  }
}
