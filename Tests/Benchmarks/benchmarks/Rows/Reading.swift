internal import OperationCore

extension Benchmark {
  /// Reads and comparisons that each run makes.
  static let reading = Benchmark(name: "reading") { harness in
    let context = OperationContext.withEightEntries()
    var rows = [
      Row(
        "context",
        "read, key set, each of 8 entries",
        try await harness.time(.calling(times: 8) { context.readEntries() }),
        bar: 0.8
      ),
      Row(
        "context",
        "read, key not set, 8 entries",
        try await harness.time(.calling { keep(context[Unset.self]) })
      ),
    ]
    for (name, element, bar) in [
      ("short strings", "friends", 0.33), ("strings of 24 characters", "friends-of-the-same-user", nil),
    ] as [(String, String, Double?)] {
      // Created twice, so that the two share no storage.
      let one = Self.path(element)
      let other = Self.path(element)
      rows.append(
        Row("path ==", "3 elements, \(name)", try await harness.time(.calling { keep(one == other) }), bar: bar)
      )
    }
    return rows
  }

  @inline(never)
  private static func path(_ element: String) -> OperationPath {
    ["users", String(decoding: Array(element.utf8), as: UTF8.self), 1]
  }
}

private enum Entry0: OperationContext.Key { static let defaultValue = 0 }
private enum Entry1: OperationContext.Key { static let defaultValue = 0 }
private enum Entry2: OperationContext.Key { static let defaultValue = 0 }
private enum Entry3: OperationContext.Key { static let defaultValue = 0 }
private enum Entry4: OperationContext.Key { static let defaultValue = 0 }
private enum Entry5: OperationContext.Key { static let defaultValue = 0 }
private enum Entry6: OperationContext.Key { static let defaultValue = 0 }
private enum Entry7: OperationContext.Key { static let defaultValue = 0 }
private enum Unset: OperationContext.Key { static let defaultValue = 0 }

extension OperationContext {
  fileprivate static func withEightEntries() -> OperationContext {
    var context = OperationContext()
    context[Entry0.self] = 10
    context[Entry1.self] = 11
    context[Entry2.self] = 12
    context[Entry3.self] = 13
    context[Entry4.self] = 14
    context[Entry5.self] = 15
    context[Entry6.self] = 16
    context[Entry7.self] = 17
    return context
  }

  /// Reads each entry, so that their order does not matter.
  fileprivate func readEntries() {
    keep(self[Entry0.self])
    keep(self[Entry1.self])
    keep(self[Entry2.self])
    keep(self[Entry3.self])
    keep(self[Entry4.self])
    keep(self[Entry5.self])
    keep(self[Entry6.self])
    keep(self[Entry7.self])
  }
}
