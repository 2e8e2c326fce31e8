import Foundation
import Operation
import OperationFleet
import Synchronization

/// A process of the service: it takes requests from its standard input, one a line, and answers on its standard output.
///
/// `get ID NUMBER`, `burst ID COUNT`, `invalidate ID`, `state ID` and `watch ID` are answered by a line with the same first
/// word. To fetch an article, it writes `upstream NUMBER ID`, and reads `answer NUMBER VERSION`.
final class NodeProgram: Sendable {
  private let client = OperationClient()
  private let upstream = UpstreamConnection()
  private let subscription = Mutex<OperationSubscription?>(nil)

  init(name: String, connection: String, isJoining: Bool) throws {
    self.client.defaultContext.upstream = self.upstream
    let subscription = self.client.onNotice { notice in
      if notice.name == .fleetAway || notice.name == .fleetBack { say("notice \(notice.name)") }
    }
    self.subscription.withLock { $0 = subscription }
    guard isJoining else { return }
    let settings = FleetSettings(
      nodeName: name,
      lookupTimeout: .milliseconds(500),
      leaseDuration: .seconds(1),
      heartbeat: .seconds(1)
    )
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
