internal import OperationCore
internal import OperationEvents

extension Benchmark {
  /// What happens in a client with and without a reader of its events.
  static let observing = Benchmark(name: "observing") { harness in
    let section = "events of a client"
    let (quiet, read) = (OperationClient.plain(), OperationClient.plain())
    // Read by nobody, so that each event replaces the oldest one: the dearest case.
    let events = read.events(keeping: 64)
    defer { withExtendedLifetime(events) {} }
    let (quietStore, readStore) = (quiet.store(for: PostQuery(id: 1)), read.store(for: PostQuery(id: 1)))
    let fetch = try await harness.difference(from: .fetchingOnce(quietStore), to: .fetchingOnce(readStore))
    let set = try await harness.difference(
      from: .calling { quietStore.currentValue = 1 },
      to: .calling { readStore.currentValue = 1 }
    )
    return [
      Row(section, "a fetch in a client without a reader", fetch.first),
      Row(section, "a fetch in a client with one", fetch.second),
      Row(section, "one event to one reader", set.difference, bar: 15),
    ] + Row.allocations(of: set.difference, section, "an event", bar: 2)
  }
}

extension Measure {
  fileprivate static func fetchingOnce(_ store: OperationStore<PostQuery.State>) -> Measure {
    .awaiting {
      do {
        _ = try await store.fetch()
      } catch {
        fatalError("a fetch that cannot fail has failed: \(error)")
      }
    }
  }
}
