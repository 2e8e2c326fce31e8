import Foundation
import Synchronization

/// Three processes of a service, what happens to them, and what each of them sees.
struct Story {
  let server: DatabaseServer
  let isJoining: Bool
  let transcript = Transcript()
  let upstream = Upstream()

  /// Tells it, and returns how many checks have failed.
  func tell() async throws -> Int {
    var nodes: [NodeProcess] = []
    for name in ["A", "B", "C"] {
      let mode: NodeProgram.Mode = self.isJoining ? .short : .alone
      nodes.append(try await NodeProcess.start(name, self.server.connection, self.upstream, mode))
    }
    self.transcript.say("three processes of a service, in front of an upstream, with one database")
    try await self.share(nodes)
    try await self.invalidate(nodes)
    try await self.lose(nodes[2], with: Array(nodes.prefix(2)))
    try await self.stopDatabase(with: Array(nodes.prefix(2)))
    for node in nodes.prefix(2) { node.end() }
    return self.transcript.failureCount
  }

  /// All callers of all processes want one article.
  private func share(_ nodes: [NodeProcess]) async throws {
    let answers = await self.burst(1, of: 200, on: nodes)
    self.transcript.say("200 callers of each process want article 1: \(self.upstream.count(of: 1)) requests upstream")
    self.transcript.check("one request upstream for 600 callers", self.upstream.count(of: 1) == 1)
    self.transcript.check("each caller has the first version", answers == [[0, 1, 1], [0, 1, 1], [0, 1, 1]])
  }

  /// An edit on one process reaches the others.
  private func invalidate(_ nodes: [NodeProcess]) async throws {
    for _ in 1...5 {
      let version = self.upstream.edit(1)
      let before = self.upstream.count(of: 1)
      let delay = await self.invalidate(1, on: nodes[1], reaching: nodes)
      guard let delay else {
        return self.transcript.check("an invalidation reaches the other processes within 5 seconds", false)
      }
      let answers = await self.burst(1, of: 200, on: nodes)
      self.transcript.say("B edits article 1: stale everywhere after \(delay) ms, then version \(answers[0][2])")
      self.transcript.check(
        "no stale value after an invalidation",
        answers.allSatisfy { $0 == [0, version, version] }
      )
      self.transcript.check("one request upstream for the period", self.upstream.count(of: 1) == before + 1)
    }
  }

  /// A process is killed while it fetches for all.
  private func lose(_ node: NodeProcess, with others: [NodeProcess]) async throws {
    self.upstream.hold(2)
    node.send("get 2 1")
    await self.upstream.arrival(of: 2)
    async let waiting = self.burst(2, of: 100, on: others)
    node.kill()
    self.upstream.release(2)
    let start = ContinuousClock.now
    let answers = await waiting
    let seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
    self.transcript.say("C is killed while it fetches article 2: \(seconds) s later another process has it")
    self.transcript.check("no request failed", answers.allSatisfy { $0 == [0, 1, 1] })
    self.transcript.check("one request upstream, and one for the death", self.upstream.count(of: 2) == 2)
  }

  /// The database is stopped for three seconds, during which an article is edited.
  private func stopDatabase(with nodes: [NodeProcess]) async throws {
    _ = await self.burst(3, of: 1, on: nodes)
    let load = Load(nodes: nodes, id: 3)
    load.start()
    try self.server.perform("stop")
    let start = ContinuousClock.now
    self.transcript.say("the database is stopped, and 40 requests a second go on")
    try await Task.sleep(for: .seconds(1), clock: .continuous)
    let version = self.upstream.edit(3)
    _ = await nodes[0].ask("invalidate 3")
    let own = await nodes[0].get(3)
    // An article that no process has yet.
    let new = await nodes[1].get(4)
    self.transcript.say("A edits article 3, and has version \(own.version ?? 0); B goes on with what it has")
    self.transcript.check("the process that has edited does not serve its old value", own.version == version)
    self.transcript.check(
      "a process fetches for itself, within the time for a look-up",
      new.version == 1 && new.milliseconds < 600
    )
    try await Task.sleep(until: start + .seconds(3), clock: .continuous)
    try self.server.perform("start")
    let isTold = await self.isStale(3, on: nodes[1])
    self.transcript.say("the database is back after 3 s, and B has heard of the edit")
    self.transcript.check("the invalidation is sent when the database is back", isTold)
    let after = await self.burst(3, of: 50, on: nodes)
    self.transcript.check("no stale value after that", after.allSatisfy { $0 == [0, version, version] })
    let result = await load.stop()
    self.transcript.say(
      "meanwhile \(result.count) requests, \(result.failed) failed, the slowest took \(Int(result.slowest)) ms"
    )
    self.transcript.check("no request failed", result.failed == 0 && result.count > 100)
    self.transcript.check("none took longer than a look-up may", result.slowest < 600)
    for node in nodes {
      // A node is back when it has written, too, which it does after it has heard of the edit.
      await self.wait { node.notices.contains("fleet.back") }
      let isToldOnce = node.notices.map { $0.prefix { $0 != " " } } == ["fleet.away", "fleet.back"]
      self.transcript.check("\(node.name) tells that the database is away, once, and that it is back", isToldOnce)
      if !isToldOnce { self.transcript.say("\(node.name) has told \(node.notices.joined(separator: ", "))") }
    }
  }
}

extension Story {
  /// How many callers have failed, the lowest and the highest version, for each process.
  private func burst(_ id: Int, of count: Int, on nodes: [NodeProcess]) async -> [[Int]] {
    await withTaskGroup(of: (Int, [Int]).self) { group in
      for (index, node) in nodes.enumerated() {
        group.addTask { (index, await node.ask("burst \(id) \(count)").compactMap { Int($0) }) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// Invalidates an article, and returns the milliseconds until it was stale on the last process; nil after 5 seconds.
  private func invalidate(_ id: Int, on node: NodeProcess, reaching nodes: [NodeProcess]) async -> Double? {
    for node in nodes {
      node.send("watch \(id)")
      _ = await node.line("watching")
    }
    let start = Double(await node.ask("invalidate \(id)").first ?? "") ?? 0
    var ends: [Double] = []
    for node in nodes { if let end = Double(await node.line("watch").first ?? "") { ends.append(end) } }
    guard ends.count == nodes.count else { return nil }
    return ends.max().map { (max(0, $0 - start) * 10_000).rounded() / 10 }
  }

  /// Waits until an article is stale on a process, up to ten seconds.
  private func isStale(_ id: Int, on node: NodeProcess) async -> Bool {
    await self.wait { await node.ask("state \(id)") == ["stale"] }
  }

  /// Waits until a condition holds, up to ten seconds, and returns whether it does.
  @discardableResult
  private func wait(until condition: () async -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      if await condition() { return true }
      try? await Task.sleep(for: .milliseconds(2), clock: .continuous)
    }
    return false
  }
}

/// Requests for one article, 40 a second, on all processes in turn.
final class Load: Sendable {
  struct Result: Sendable {
    var count = 0
    var failed = 0
    var slowest = 0.0
  }

  private let nodes: [NodeProcess]
  private let id: Int
  private let task = Mutex<Task<Result, Never>?>(nil)

  init(nodes: [NodeProcess], id: Int) {
    self.nodes = nodes
    self.id = id
  }

  func start() {
    let task = Task { [nodes, id] in
      await withTaskGroup(of: (version: Int?, milliseconds: Double).self) { group in
        var (number, result) = (0, Result())
        while !Task.isCancelled {
          let node = nodes[number % nodes.count]
          number += 1
          group.addTask { await node.get(id) }
          try? await Task.sleep(for: .milliseconds(25), clock: .continuous)
        }
        for await answer in group {
          result.count += 1
          if answer.version == nil { result.failed += 1 }
          result.slowest = max(result.slowest, answer.milliseconds)
        }
        return result
      }
    }
    self.task.withLock { $0 = task }
  }

  func stop() async -> Result {
    let task = self.task.withLock { $0.take() }
    task?.cancel()
    return await task?.value ?? Result()
  }
}

/// What the program prints, and its checks.
final class Transcript: Sendable {
  private let start = ContinuousClock.now
  private let failures = Mutex(0)

  var failureCount: Int { self.failures.withLock { $0 } }

  func say(_ text: String) {
    let tenths = ((ContinuousClock.now - self.start) / .milliseconds(100)).rounded() / 10
    print("\(String(repeating: " ", count: max(0, 5 - "\(tenths)".count)))\(tenths) s  \(text)")
    fflush(nil)
  }

  func check(_ claim: String, _ holds: Bool) {
    print("         \(holds ? "✓" : "✗ WRONG:") \(claim)")
    fflush(nil)
    if !holds { self.failures.withLock { $0 += 1 } }
  }
}
