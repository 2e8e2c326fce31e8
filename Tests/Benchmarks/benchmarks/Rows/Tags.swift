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

/// A query whose value has ten tags of its own.
private struct TaggedPost: QueryRequest {
  let id: Int

  var path: OperationPath { ["tagged posts", self.id] }

  static func tags(of id: Int?) -> [OperationTag] {
    id.map { id in (0..<10).map { .entity("post", id * 10 + $0) } } ?? []
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.id
  }
}
