internal import OperationCore
internal import OperationTags

extension Benchmark {
  /// An invalidation by a tag that one store has, among stores with ten tags each.
  static let tags = Benchmark(name: "tags") { harness in
    let section = "invalidate one tag, of stores with 10 each"
    let sizes = [1_000, 100_000]
    let clients = sizes.map { size in
      let client = OperationClient.plain()
      for id in 0..<size { client.store(for: TaggedPost(id: id).tagged { TaggedPost.tags(of: $0) }).currentValue = id }
      return client
    }
    let timings = try await harness.times(
      of: zip(sizes, clients).map { size, client in
        .calling(roundOf: size) { id in client.invalidate(tagged: .entity("post", id * 10)) }
      }
    )
    return zip(sizes, timings).map { Row(section, "among \($0.grouped)", $1) }
      + [.growth(section, of: timings, bar: 2, gate: 4)]
  }
}

extension Benchmark {
  /// The bytes that a tag keeps, and what tags cost a store that has none.
  static let tagMemory = Benchmark(name: "tag-memory") { _ in
    guard Allocated.isCountable else { return [] }
    let section = "tags"
    let one = Self.bytesPerStore { TaggedPost(id: $0).tagged { TaggedPost.tags(of: $0, count: 1) } }
    let many = Self.bytesPerStore { TaggedPost(id: $0).tagged { TaggedPost.tags(of: $0, count: 101) } }
    // Beside stores with tags, in the same client.
    let client = OperationClient.plain()
    client.store(for: TaggedPost(id: -1).tagged { TaggedPost.tags(of: $0) }).currentValue = -1
    let untagged = Self.bytesPerStore { TaggedPost(id: $0) }
    let untaggedBesideTags = Self.bytesPerStore(in: client) { TaggedPost(id: $0) }
    let bytes = (many - one) / 100
    return [
      .number(section, "a tag keeps", bytes, .bytes, bar: 100, gate: 100),
      .number(section, "a store without tags keeps for them", untaggedBesideTags - untagged, .bytes, bar: 1, gate: 1),
    ]
  }

  private static func bytesPerStore<Query: QueryRequest>(
    in client: OperationClient = .plain(),
    _ query: (Int) -> Query
  ) -> Double where Query.Value == Int {
    let count = 1_000
    client.store(for: query(count)).currentValue = count
    var filling = Stopwatch(.allocations)
    filling.start()
    for id in 0..<count { client.store(for: query(id)).currentValue = id }
    filling.stop()
    return Double(filling.allocated.bytesLeft) / Double(count)
  }
}

/// A query whose value has ten tags of its own.
private struct TaggedPost: QueryRequest {
  let id: Int

  var path: OperationPath { ["tagged posts", self.id] }

  static func tags(of id: Int?, count: Int = 10) -> [OperationTag] {
    id.map { id in (0..<count).map { .entity("post", id * count + $0) } } ?? []
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.id
  }
}
