import Foundation
import Operation
import OperationFleet
import Synchronization

/// A process of the service: it takes requests from its standard input, one a line, and answers on its standard output.
///
/// `get ID NUMBER`, `burst ID COUNT`, `invalidate ID`, `state ID`, `watch ID`, `follow COUNT`, `until COUNT VERSION`,
/// `invalidateAll`, `settle` and `load COUNT` are answered by a line with the same first word. To fetch an article, it writes `upstream NUMBER ID`, and reads `answer NUMBER VERSION`.
final class NodeProgram: Sendable {
  /// How a process takes part in the fleet.
  enum Mode: String {
    /// Not at all.
    case alone
    /// With times that keep a story short.
    case short
    /// With the settings that a fleet has by default.
    case usual
  }

  private let client = OperationClient()
  private let connection: String
  private let followed = Mutex<[OperationSubscription]>([])
  private let upstream = UpstreamConnection()
  private let subscription = Mutex<OperationSubscription?>(nil)

  init(name: String, connection: String, _ mode: Mode) throws {
    self.connection = connection
    self.client.defaultContext.upstream = self.upstream
    let subscription = self.client.onNotice { notice in
      switch notice.name {
      case .fleetAway, .fleetBack:
        let cause = notice.attributes["fleet.message"].map { " \($0)" } ?? ""
        say("notice \(notice.name)\(cause)")
      case .fleetValue where notice.attributes["fleet.source"] == .string("alone"): say("alone")
      default: break
      }
    }
    self.subscription.withLock { $0 = subscription }
    if mode == .alone { return }
    var settings = FleetSettings(nodeName: name)
    if mode == .short { (settings.leaseDuration, settings.heartbeat) = (.seconds(1), .seconds(1)) }
    self.client.join(try Backend.fleet(connection), settings: settings)
  }

  /// Serves until the input ends.
  func serve() async {
    say("ready")
    for await line in lines(of: .standardInput) {
      let words = line.split(separator: " ").map(String.init)
      let numbers = words.dropFirst().compactMap { Int($0) }
      switch (words.first, numbers.count) {
      case ("answer", 2): self.upstream.answer(numbers[0], numbers[1])
      case ("get", 2): Task { await self.get(numbers[0], numbers[1]) }
      case ("burst", 2): Task { await self.burst(numbers[0], numbers[1]) }
      case ("invalidate", 1):
        self.client.invalidate(matching: ["articles", numbers[0]])
        say("invalidate \(ProcessInfo.processInfo.systemUptime)")
      case ("state", 1):
        let store = self.client.articleStore(numbers[0])
        say("state \(store.isStale ? "stale" : "fresh")")
      case ("watch", 1): Task { await self.watch(numbers[0]) }
      case ("follow", 1): self.follow(numbers[0])
      case ("until", 2): Task { await self.wait(for: numbers[0], numbers[1]) }
      case ("invalidateAll", 0):
        self.client.invalidate(matching: ["articles"])
        say("invalidateAll")
      case ("settle", 0):
        Task {
          await self.client.invalidate(matching: ["articles"]).settled()
          say("settle")
        }
      case ("load", 1): Task { await self.load(numbers[0]) }
      default: say("unknown \(line)")
      }
    }
  }

  private func get(_ id: Int, _ number: Int) async {
    let start = ContinuousClock.now
    do {
      let article = try await self.client.article(id)
      say("get \(number) \(article.version) \((ContinuousClock.now - start) / .milliseconds(1))")
    } catch {
      say("get \(number) failed \(error)")
    }
  }

  /// Many callers at once, who each want the article.
  private func burst(_ id: Int, _ count: Int) async {
    let versions = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<count { group.addTask { try? await self.client.article(id).version } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let known = versions.compactMap { $0 }
    say("burst \(versions.count - known.count) \(known.min() ?? 0) \(known.max() ?? 0)")
  }

  /// Says when the article becomes stale, by the clock of the machine, or after five seconds that it does not.
  private func watch(_ id: Int) async {
    let store = self.client.articleStore(id)
    say("watching")
    let end = ContinuousClock.now + .seconds(5)
    while !store.isStale, ContinuousClock.now < end {
      try? await Task.sleep(for: .microseconds(200), clock: .continuous)
    }
    say(store.isStale ? "watch \(ProcessInfo.processInfo.systemUptime)" : "watch")
  }
}

extension NodeProgram {
  /// Subscribes to many articles, which fetches them.
  private func follow(_ count: Int) {
    let subscriptions = (1...count).map { self.client.articleStore($0).subscribe(with: QueryEventHandler()) }
    self.followed.withLock { $0 = subscriptions }
    say("follow")
  }

  /// Waits until many articles have a version and are fresh, up to two minutes, and says how many are not.
  private func wait(for count: Int, _ version: Int) async {
    let end = ContinuousClock.now + .seconds(120)
    var missing = (1...count).map { self.client.articleStore($0) }
    while ContinuousClock.now < end {
      missing.removeAll { $0.currentValue?.version == version && !$0.isStale }
      if missing.isEmpty { break }
      try? await Task.sleep(for: .milliseconds(20), clock: .continuous)
    }
    say("until \(missing.count)")
  }

  /// Four tasks invalidate paths without values, again and again.
  private func load(_ count: Int) async {
    guard let fleet = try? Backend.fleet(self.connection) else { return say("load failed") }
    let failures = await withTaskGroup(of: Int.self) { group in
      for caller in 0..<4 {
        group.addTask {
          var failures = 0
          for number in stride(from: caller, to: count, by: 4) {
            let subject = FleetSubject("other/\(number % 500)")
            if (try? await fleet.invalidate([subject], by: "load")) == nil { failures += 1 }
          }
          return failures
        }
      }
      return await group.reduce(0, +)
    }
    await fleet.close()
    say("load \(failures)")
  }
}

/// The requests of a process that its parent answers.
final class UpstreamConnection: Sendable {
  private let waiting = Mutex<(last: Int, [Int: CheckedContinuation<Int, Never>])>((0, [:]))

  func version(of id: Int) async -> Int {
    await withCheckedContinuation { continuation in
      let number = self.waiting.withLock { waiting in
        waiting.last += 1
        waiting.1[waiting.last] = continuation
        return waiting.last
      }
      say("upstream \(number) \(id)")
    }
  }

  func answer(_ number: Int, _ version: Int) {
    self.waiting.withLock { $0.1.removeValue(forKey: number) }?.resume(returning: version)
  }
}

private let output = Mutex(())

/// Writes a line as a whole.
func say(_ line: String) {
  output.withLock { _ in try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
}

/// The lines of a pipe, to its end.
func lines(of handle: FileHandle) -> AsyncStream<String> {
  AsyncStream { continuation in
    Thread.detachNewThread {
      var rest = Data()
      while true {
        let data = handle.availableData
        if data.isEmpty { break }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      continuation.finish()
    }
  }
}
