internal import ArgumentParser
internal import Foundation
internal import OperationCore

extension Benchmark {
  /// The time of the first use of an operation with modifiers, whose type was not looked up before.
  static let firstUse = Benchmark(name: "first use") { harness in
    let section = "first use of an operation"
    let none = try FirstUse.none.nanoseconds(isShort: harness.isShort)
    var rows = [Row.number(section, "no modifier", (none / 1000).rounded(), .microseconds)]
    var least: [Double] = []
    for use in [FirstUse.five, .twenty, .forty] {
      let nanoseconds = try use.nanoseconds(isShort: harness.isShort)
      let each = max(nanoseconds - none, 1) / Double(use.rawValue)
      least.append(each)
      var row = Row.number(section, "each of \(use.rawValue) modifiers", (each / 100).rounded() / 10, .microseconds)
      row.bar = Row.Limit(.atMost, 200)
      row.note = "\(Int(nanoseconds / 1000)) µs in all"
      rows.append(row)
    }
    let growth = (least.max() ?? .nan) / (least.min() ?? .nan)
    // A type that names the operation that it wraps twice would make it many thousands.
    rows.append(.number(section, "growth", growth, .times, bar: 3, gate: 6))
    return rows
  }
}

/// A number of modifiers around an operation that a process uses for the first time.
enum FirstUse: Int, ExpressibleByArgument, CaseIterable, Sendable {
  case none = 0
  case five = 5
  case twenty = 20
  case forty = 40

  private struct ProcessFailed: Error {}

  /// The nanoseconds of the fastest of a few processes, because other work of the machine only adds time.
  fileprivate func nanoseconds(isShort: Bool) throws -> Double {
    try (0..<(isShort ? 5 : 15)).map { _ in try self.nanosecondsInNewProcess() }.min() ?? .nan
  }

  private func nanosecondsInNewProcess() throws -> Double {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["--first-use", "\(self.rawValue)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0, let nanoseconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw ProcessFailed() }
    return nanoseconds
  }

  /// The nanoseconds to create an operation and its store and to fetch for the first time, in this process.
  func nanosecondsHere() async throws -> Double {
    let client = OperationClient.plain()
    // The library itself is used once before.
    _ = try await client.store(for: PostQuery(id: 0)).fetch()
    let duration =
      switch self {
      case .none: try await client.firstFetch { FreshQuery() }
      case .five:
        try await client.firstFetch {
          FreshQuery()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
        }
      case .twenty:
        try await client.firstFetch {
          FreshQuery()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
        }
      case .forty:
        try await client.firstFetch {
          FreshQuery()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
            .passedThrough().passedThrough().passedThrough().passedThrough().passedThrough()
        }
      }
    return duration / .nanoseconds(1)
  }
}

extension OperationClient {
  fileprivate func firstFetch(_ make: () -> some QueryRequest<Int, any Error>) async throws -> Duration {
    let start = ContinuousClock.now
    let value = try await self.store(for: make()).fetch()
    let duration = start.duration(to: .now)
    keep(value)
    return duration
  }
}

/// A query that nothing else uses.
private struct FreshQuery: QueryRequest {
  typealias State = QueryState<Int, any Error>

  var path: OperationPath { ["fresh"] }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    1
  }
}
