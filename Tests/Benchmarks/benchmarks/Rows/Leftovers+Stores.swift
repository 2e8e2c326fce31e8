internal import Operation
internal import OperationCore

extension Benchmark {
  /// The stores and the memory that are left after the last reference to many stores is released.
  static let droppedStores = Benchmark(name: "dropped stores") { harness in
    let kept = Kept()
    defer { withExtendedLifetime(kept) {} }
    let sabotage: (Int, AnyObject) -> Void = { id, store in
      if harness.sabotage == .leak, id % 100 == 0 { kept.objects.append(store) }
    }
    var rows: [Row] = []
    for (name, make) in Self.origins {
      // Run once before, so that allocations of the first use do not count.
      _ = make(0..<10)
      rows.append(Self.alive(name, make, sabotage))
      if let row = Self.bytesLeft(name, make, sabotage) { rows.append(row) }
    }
    rows.append(Self.evicted())
    return rows
  }

  private static let section = "left of 100,000 dropped stores"
  private static let count = 100_000

  /// Stores, and the client that has to be released before them.
  private typealias Made = (owner: OperationClient?, stores: [OperationStore<PostQuery.State>])

  private static var origins: [(String, (Range<Int>) -> Made)] {
    [
      ("detached", { ids in (nil, ids.map { OperationStore.detached(query: PostQuery(id: $0)) }) }),
      ("of a Core client", { ids in Self.made(ids, by: .plain()) }),
      ("of a client with defaults", { ids in Self.made(ids, by: .withDefaults()) }),
    ]
  }

  private static func made(_ ids: Range<Int>, by client: OperationClient) -> Made {
    (client, ids.map { client.store(for: PostQuery(id: $0)) })
  }

  private static func alive(
    _ name: String,
    _ make: (Range<Int>) -> Made,
    _ sabotage: (Int, AnyObject) -> Void
  ) -> Row {
    var made = make(0..<Self.count)
    for (id, store) in made.stores.enumerated() { sabotage(id, store) }
    let references = made.stores.map { WeakReference(to: $0) }
    made = (nil, [])
    return .number(Self.section, "\(name): alive", Double(references.count { $0.isAlive }), bar: 0)
  }

  private static func bytesLeft(
    _ name: String,
    _ make: (Range<Int>) -> Made,
    _ sabotage: (Int, AnyObject) -> Void
  ) -> Row? {
    guard Allocated.isCountable else { return nil }
    var making = Stopwatch(.allocations)
    making.start()
    var made = make(0..<Self.count)
    making.stop()
    for (id, store) in made.stores.enumerated() { sabotage(id, store) }
    var dropping = Stopwatch(.allocations)
    dropping.start()
    made = (nil, [])
    dropping.stop()
    let bytesMade = making.allocated.bytesLeft
    let bytesLeft = bytesMade + dropping.allocated.bytesLeft
    return .number(
      Self.section,
      "\(name): of their bytes",
      100 * Double(bytesLeft) / Double(bytesMade),
      .percent,
      bar: 5
    )
  }

  /// A client that keeps no more idle stores than its maximum, without a call that removes stores.
  private static func evicted() -> Row {
    let maximum = 1000
    let client = OperationClient(
      storeCache: OperationClient.DefaultStoreCache(maximumIdleStores: maximum),
      storeCreator: .default()
    )
    let references = (0..<Self.count).map { WeakReference(to: client.store(for: PostQuery(id: $0))) }
    return .number(
      Self.section,
      "of a client that keeps 1,000: alive",
      Double(references.count { $0.isAlive }),
      bar: Double(maximum)
    )
  }
}

private final class WeakReference {
  private weak var object: AnyObject?

  init(to object: AnyObject) {
    self.object = object
  }

  var isAlive: Bool { self.object != nil }
}

private final class Kept {
  var objects: [AnyObject] = []
}
