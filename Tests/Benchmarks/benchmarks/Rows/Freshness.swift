internal import OperationCore
internal import OperationFreshness

extension Benchmark {
  /// Reads of values that are served in place of the outcome of a run.
  static let freshness = Benchmark(name: "freshness") { harness in
    let section = "fresh enough"
    let young = OperationStore.detached(query: PostQuery(id: 1).stale(after: .seconds(600)))
    let rules = PostQuery(id: 1).stale(after: .seconds(600))
    let quick = OperationStore.detached(query: rules.servesStale(softTimeout: .seconds(600), maximumAge: .seconds(600)))
    // The whole freshness counts as its last part.
    let early = OperationStore.detached(query: rules.refreshesEarly(after: 0))
    let failing = OperationStore.detached(
      query: QueryOperation<Int, any Error>("failing") { _ in throw CannotAnswer() }
        .servesStale(softTimeout: .seconds(600), maximumAge: .seconds(600))
    )
    for store in [young, quick, early, failing] { store.currentValue = 1 }
    let reads: [(String, Measure)] = [
      ("store.isStale", .calling { keep(young.isStale) }),
      ("store.value(maximumAge:), young enough", .reading { try await young.value(maximumAge: .seconds(600)) }),
      ("store.fetch(), that could serve a stale value", .reading { try await quick.fetch() }),
      ("a stale value in place of a failure", .reading { try await failing.fetch() }),
      ("a read that refreshes early", .reading { try await early.fetch() }),
    ]
    let timings = try await harness.times(of: reads.map(\.1))
    return zip(reads, timings).map { Row(section, $0.0, $1) }
  }
}

extension Measure {
  fileprivate static func reading(_ body: @escaping @Sendable () async throws -> Int) -> Measure {
    .awaiting {
      do {
        keep(try await body())
      } catch {
        fatalError("a read that cannot fail has failed: \(error)")
      }
    }
  }
}

private struct CannotAnswer: Error {}
