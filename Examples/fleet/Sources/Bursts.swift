import Foundation

/// Many keys that four processes want at once, and what one invalidation of all of them causes.
struct Bursts {
  let server: DatabaseServer
  let keyCount: Int

  /// Prints how many runs there were, and returns whether there were no more than may be.
  func print() async throws -> Bool {
    let upstream = Upstream()
    var nodes: [NodeProcess] = []
    for number in 1...4 {
      nodes.append(try await NodeProcess.start("burst \(number)", self.server.connection, upstream, .usual))
    }
    // The burst before may have left values. A run that begins before all nodes know would be made again.
    let version = upstream.editAll()
    _ = await nodes[0].ask("settle")
    var isRight = await self.measure("first fetch", nodes, version, upstream) {
      for node in nodes { _ = await node.ask("follow \(self.keyCount)") }
    }
    isRight =
      await self.measure("one invalidation", nodes, upstream.editAll(), upstream) {
        _ = await nodes[0].ask("invalidateAll")
      } && isRight
    let next = upstream.editAll()
    isRight =
      await self.measure("one invalidation, and a kill -9", Array(nodes.prefix(3)), next, upstream, killed: nodes[3]) {
        async let arrivals: Void = upstream.requests(self.keyCount / 4)
        _ = await nodes[0].ask("invalidateAll")
        await arrivals
        nodes[3].kill()
      } && isRight
    let aways = nodes.flatMap(\.notices).filter { $0.hasPrefix("fleet.away") }
    for away in aways { Swift.print("  \(away)") }
    for node in nodes.prefix(3) { node.end() }
    return isRight && aways.isEmpty
  }

  private func measure(
    _ name: String,
    _ nodes: [NodeProcess],
    _ version: Int,
    _ upstream: Upstream,
    killed: NodeProcess? = nil,
    _ body: () async -> Void
  ) async -> Bool {
    _ = upstream.takeRequests()
    let start = ContinuousClock.now
    await body()
    let missing = await withTaskGroup(of: Int.self) { group in
      for node in nodes {
        group.addTask { await node.ask("until \(self.keyCount) \(version)").first.flatMap { Int($0) } ?? .max }
      }
      return await group.reduce(0) { max($0, $1) }
    }
    let seconds = ((ContinuousClock.now - start) / .milliseconds(100)).rounded() / 10
    let requests = upstream.takeRequests()
    // What the killed process had begun, another one makes once more, each key once.
    let lost = killed.map { Set(requests[$0.name] ?? []) } ?? []
    let others = nodes.flatMap { requests[$0.name] ?? [] }
    let repeated = others.count - Set(others).count
    let again = lost.intersection(others).count
    let runs = requests.values.reduce(0) { $0 + $1.count }
    let isRight = missing == 0 && repeated == 0 && runs <= self.keyCount + again
    let losses = killed == nil ? "" : ", of which \(again) were begun by the process that was killed, too"
    Swift.print(
      "\(self.keyCount) keys on 4 processes, \(name): \(runs) runs\(losses), \(seconds) s\(isRight ? "" : "  WRONG")"
    )
    let lonely = nodes.map(\.lonelyRuns)
    if !isRight { Swift.print("  \(missing) keys are old, \(repeated) ran twice, alone so far \(lonely)") }
    fflush(nil)
    return isRight
  }
}
