import Charts
import Foundation
import Operation
import Synchronization

/// The load of the service: eight tenants, one of which becomes greedy, and an upstream that slows, fails in parts and
/// recovers.
///
/// The same requests go to three services at once, each with an upstream of its own: one without modifiers for trouble, one
/// written by hand, and one with everything on; and to a fourth without the greedy tenant, to compare latencies with. The exit code is 0 if the numbers are as they should be. With
/// `--unprotected` the first takes the place of the last, and some have to be wrong. `--svg` names the file of the curves.
@main
struct Main {
  static func main() async {
    // A warning of the library is a mistake of the example.
    let warnings = Warnings()
    OperationWarning.reporter = { warnings.append("\($0)") }
    do {
      let wrongCount = try await Self.play()
      let found = warnings.all
      for warning in found { print("wrong the library warns: \(warning)") }
      guard wrongCount + found.count > 0 else { return }
      print("error: \(wrongCount + found.count) of the numbers are not as they should be")
    } catch {
      print("error: \(error)")
    }
    exit(1)
  }

  /// Returns the number of checks that do not hold.
  private static func play() async throws -> Int {
    let arrivals = Arrival.schedule()
    print("\(arrivals.count) requests in \(Phase.totalSeconds) s, to each of three services …")
    let start = ContinuousClock.now
    let upstreams = (0..<4).map { _ in Upstream(start: start) }
    let resilient = ResilientService(upstream: upstreams[2])
    let last: any ArticleService =
      CommandLine.arguments.contains("--unprotected") ? BareService(upstream: upstreams[2]) : resilient
    let services: [any ArticleService] = [
      BareService(upstream: upstreams[0]), HandWrittenService(upstream: upstreams[1]), last,
    ]
    let names = ["without", "by hand", "with"]
    let spared = Side(service: ResilientService(upstream: upstreams[3]), upstream: upstreams[3], isSpared: true)
    let recordings = try await Load(arrivals: arrivals).play(
      on: zip(services, upstreams).map { Side(service: $0, upstream: $1) } + [spared],
      from: start
    )

    print(Tables(sides: Array(zip(names, recordings))))
    print("")
    for (name, upstream) in zip(names, upstreams) {
      let counts = "\(upstream.requests.count) requests, \(upstream.wastedCount) of which it worked on for nobody"
      print("upstream of '\(name)': \(counts), \(upstream.unbegunCount) not begun because the caller had gone")
    }
    print(resilient.limit)
    print(resilient.budget.snapshot())
    let curves = Self.curves
    let plot = Plot(bare: recordings[0], hand: recordings[1], full: recordings[2])
    try Data(plot.chart.svg.utf8).write(to: curves)
    print("the curves are in \(curves.path(percentEncoded: false))")
    let checks = Checks(bare: recordings[0], hand: recordings[1], full: recordings[2], spared: recordings[3])
    for line in checks.lines { print(line) }
    return checks.wrongCount
  }

  /// The file that `--svg` names; one in the temporary folder otherwise.
  private static var curves: URL {
    let arguments = CommandLine.arguments
    guard let option = arguments.firstIndex(of: "--svg"), option + 1 < arguments.count else {
      return .temporaryDirectory.appending(path: "load.svg")
    }
    return URL(filePath: arguments[option + 1])
  }
}

/// The warnings of the library.
private final class Warnings: Sendable {
  private let texts = Mutex<[String]>([])

  var all: [String] { self.texts.withLock { $0 } }

  func append(_ text: String) {
    self.texts.withLock { $0.append(text) }
  }
}
