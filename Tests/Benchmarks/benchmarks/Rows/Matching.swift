internal import OperationCore

extension Benchmark {
  /// Ten stores below a path, among many.
  static let matching = Benchmark(name: "matching") { harness in
    let section = "stores(matching:of:), 10"
    let sizes = [1000, 100_000]
    let clients = sizes.map { Self.client(with: $0) }
    let timings = try await harness.times(of: zip(sizes, clients).map { .matching(in: $1, of: $0) })
    let looking = try await harness.time(.matching(in: clients[0], of: sizes[0]) { keep($0) })
    return zip(sizes, timings).map { Row(section, "of \($0.grouped)", $1, bar: 53) } + [
      .growth(section, of: timings, bar: 2, gate: 4),
      Row(section, "and each looked at", looking),
    ] + Row.allocations(of: timings[0], section, "finding them", bar: 6)
  }

  private static func client(with size: Int) -> OperationClient {
    let client = OperationClient.plain()
    for group in 0..<size / MemberQuery.membersPerGroup {
      for member in 0..<MemberQuery.membersPerGroup { _ = client.store(for: MemberQuery(group: group, member: member)) }
    }
    return client
  }
}

extension Measure {
  /// Finds the members of a few groups, spread over all groups: so few that they fit into the processor's caches.
  fileprivate static func matching(
    in client: OperationClient,
    of size: Int,
    look: (@Sendable (OperationStore<MemberQuery.State>) -> Void)? = nil
  ) -> Measure {
    let groups = 8
    let stride = size / MemberQuery.membersPerGroup / groups
    return .calling(roundOf: groups) { number in
      let found = client.stores(matching: MemberQuery.path(of: number * stride), of: MemberQuery.State.self)
      keep(found.count)
      if let look { for store in found { look(store) } }
    }
  }
}
