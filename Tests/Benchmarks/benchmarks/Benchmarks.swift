internal import ArgumentParser
internal import Foundation

@main
struct Benchmarks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "benchmarks",
    abstract: "Measures what Swift Operation costs, in awaits of an async function that does nothing (A)."
  )

  @Flag(
    help: "Check how costs grow and what is allocated, which any machine can, in less time. A failure is an exit code."
  )
  var short = false

  @Flag(help: "Make a missed bar an exit code in the full form as well.")
  var strict = false

  @Option(help: "Write the report as JSON to this file too.", completion: .file())
  var json: String?

  @Option(help: "Write the figures that documents quote to this file.", completion: .file())
  var figures: String?

  @Option(help: "Run only the parts with this text in their names.")
  var filter: String?

  @Option(help: ArgumentHelp("Do something wrong that has to be found.", visibility: .hidden))
  var sabotage: Sabotage?

  @Option(help: ArgumentHelp("Print the nanoseconds of one first use in this process.", visibility: .hidden))
  var firstUse: FirstUse?

  func run() async throws {
    if let firstUse = self.firstUse { return print(try await firstUse.nanosecondsHere()) }
    let short = self.short
    let filter = self.filter
    let sabotage = self.sabotage
    // In a task of its own, on no actor.
    let report = try await Task.detached { try await Self.measure(isShort: short, filter: filter, sabotage: sabotage) }
      .value
    print(Table(report: report).text)
    if let json = self.json { try report.json().write(to: URL(fileURLWithPath: json)) }
    if let figures = self.figures { try report.figures.write(toFile: figures, atomically: true, encoding: .utf8) }
    let misses = report.misses
    print(misses.isEmpty ? "\nall bars met" : "\nmissed: \(misses.count)")
    for row in misses { print("  \(row.section): \(row.name)") }
    if !misses.isEmpty, self.short || self.strict { throw ExitCode.failure }
  }

  private static func measure(isShort: Bool, filter: String?, sabotage: Sabotage?) async throws -> Report {
    let benchmarks = Benchmark.all.filter { benchmark in
      filter.map { benchmark.name.localizedCaseInsensitiveContains($0) } ?? true
    }
    guard !benchmarks.isEmpty else {
      throw ValidationError("no part has that in its name: \(Benchmark.all.map(\.name).joined(separator: ", "))")
    }
    let harness = try await Harness(isShort: isShort, sabotage: sabotage)
    var rows: [Row] = []
    for benchmark in benchmarks {
      FileHandle.standardError.write(Data("measuring: \(benchmark.name)\n".utf8))
      rows += try await benchmark.run(harness)
    }
    return Report(
      date: .now,
      toolchain: Toolchain.name,
      machine: .current,
      isShort: isShort,
      baseline: harness.baseline,
      rows: rows.map { $0.judged(isShort: isShort) }
    )
  }
}
