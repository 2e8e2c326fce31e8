internal import OperationCore

extension Benchmark {
  /// Ten stores below a path, among many.
  static let matching = Benchmark(name: "matching") { harness in
    let section = "stores(matching:of:), 10"
    let client = OperationClient.plain()
    var rows: [Row] = []
    var timings: [Timing] = []
    var count = 0
    for size in [1000, 100_000] {
      let groups = size / MemberQuery.membersPerGroup
      for group in count..<groups {
        for member in 0..<MemberQuery.membersPerGroup {
          _ = client.store(for: MemberQuery(group: group, member: member))
        }
      }
      count = groups
      let stride = groups / 50
      let timing = try await harness.time(
        .calling(roundOf: 50) { number in
          let found = client.stores(matching: MemberQuery.path(of: number * stride), of: MemberQuery.State.self)
          keep(found.count)
        }
      )
      timings.append(timing)
      rows.append(Row(section, "of \(size.grouped)", timing, bar: 100))
    }
    rows.append(.growth(section, of: timings, bar: 2, gate: 4))
    rows.append(
      Row(
        section,
        "and each looked at",
        try await harness.time(
          .calling(roundOf: 50) { number in
            for store in client.stores(matching: MemberQuery.path(of: number), of: MemberQuery.State.self) {
              keep(store)
            }
          }
        )
      )
    )
    return rows
  }
}
