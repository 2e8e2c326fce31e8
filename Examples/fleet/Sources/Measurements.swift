import Foundation
import Operation
import OperationFleet

/// What the backend does in a second, and how far eight processes are apart.
struct Measurements {
  let server: DatabaseServer

  func print() async throws {
    let fleet = try Backend.fleet(self.server.connection, maximumConnections: 8)
    let keys = (0..<1_000).map {
      FleetKey("article/\($0)", subjects: ["", "articles", "articles/\($0)"].map { FleetSubject($0) })
    }
    try await self.fill(fleet, keys)
    for batch in [1, 20] {
      let (rate, slow) = try await self.rate(tasks: 16, count: 20_000 / batch) { number in
        let first = (number * batch) % (keys.count - batch)
        _ = try await fleet.lookUp(Array(keys[first..<first + batch]))
      }
      self.say("look-ups of \(batch) keys", "\(rate)/s, 99 % within \(slow) ms")
    }
    let (writes, _) = try await self.rate(tasks: 16, count: 5_000) { number in
      let key = keys[number % keys.count]
      try await self.write(key, fleet, revision: .max)
    }
    self.say("leases with a write", "\(writes)/s")
    let (invalidations, _) = try await self.rate(tasks: 8, count: 5_000) { number in
      _ = try await fleet.invalidate([FleetSubject("other/\(number % 500)")], by: "measure")
    }
    self.say("invalidations, nobody listening", "\(invalidations)/s")
    await fleet.close()
    try await self.measureProcesses()
  }

  private func measureProcesses() async throws {
    let upstream = Upstream()
    var nodes: [NodeProcess] = []
    for number in 1...8 {
      nodes.append(try await NodeProcess.start("\(number)", self.server.connection, upstream, .usual))
    }
    var runs: [Int] = []
    for id in 1...20 {
      await withTaskGroup { group in
        for node in nodes { group.addTask { _ = await node.ask("burst \(id) 1000") } }
      }
      runs.append(upstream.count(of: id))
    }
    self.say("runs of a key that 8 × 1,000 callers want at once", "\(runs.min() ?? 0) to \(runs.max() ?? 0), 20 times")
    var delays: [Double] = []
    for round in 0..<50 {
      _ = await nodes[0].get(1)
      for node in nodes {
        _ = await node.get(1)
        node.send("watch 1")
        _ = await node.line("watching")
      }
      let start = Double(await nodes[round % 8].ask("invalidate 1").first ?? "") ?? 0
      var end = 0.0
      for node in nodes { end = max(end, Double(await node.line("watch").first ?? "") ?? 0) }
      delays.append((end - start) * 1_000)
    }
    delays.sort()
    let texts = [delays[25], delays[47], delays[49]].map { "\(($0 * 10).rounded() / 10)" }
    self.say(
      "from an invalidation to the last of 8 processes",
      "\(texts[0]) ms, 95 %: \(texts[1]) ms, longest: \(texts[2]) ms"
    )
    let fleet = try Backend.fleet(self.server.connection, maximumConnections: 8)
    let (rate, _) = try await self.rate(tasks: 8, count: 5_000) { number in
      _ = try await fleet.invalidate([FleetSubject("other/\(number % 500)")], by: "measure")
    }
    self.say("invalidations by one process, 8 processes listening", "\(rate)/s")
    await fleet.close()
    let (count, start) = (1_000, ContinuousClock.now)
    let failures = await withTaskGroup(of: [String].self) { group in
      for node in nodes { group.addTask { await node.ask("load \(count)") } }
      return await group.reduce(into: []) { $0 += $1 }.filter { $0 != "0" }.count
    }
    let all = Int(Double(8 * count) / ((ContinuousClock.now - start) / .seconds(1)))
    self.say("invalidations by 8 processes, which all listen", failures == 0 ? "\(all)/s" : "\(failures) have failed")
    for node in nodes { node.end() }
  }

  private func fill(_ fleet: any FleetBackend, _ keys: [FleetKey]) async throws {
    for key in keys { try await self.write(key, fleet, revision: nil) }
  }

  private func write(_ key: FleetKey, _ fleet: any FleetBackend, revision: Int64?) async throws {
    let request = FleetLeaseRequest(
      key: key,
      owner: "\(UInt64.random(in: 0...(.max)))",
      duration: .seconds(10),
      knownRevision: revision
    )
    guard case .granted(let lease, let epoch) = try await fleet.acquireLease(request) else { return }
    let bytes = [UInt8](repeating: 7, count: 1_000)
    _ = try await fleet.store(FleetWrite(lease: lease, epoch: epoch, bytes: bytes, timeToLive: .seconds(600)))
  }

  /// How many calls are made in a second, by several tasks, and the milliseconds in which 99 of 100 end.
  private func rate(
    tasks: Int,
    count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> (perSecond: Int, milliseconds: Double) {
    let start = ContinuousClock.now
    let times = try await withThrowingTaskGroup(of: [Double].self) { group in
      for task in 0..<tasks {
        group.addTask {
          var times: [Double] = []
          for number in stride(from: task, to: count, by: tasks) {
            let start = ContinuousClock.now
            try await body(number)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
          }
          return times
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }.sorted()
    }
    let rate = Int(Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
    return (rate, (times[times.count * 99 / 100] * 10).rounded() / 10)
  }

  private func say(_ name: String, _ text: String) {
    Swift.print("\(name): \(text)")
    fflush(nil)
  }
}
