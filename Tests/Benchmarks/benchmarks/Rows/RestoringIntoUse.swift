internal import OperationCore
internal import OperationPersistence

extension Benchmark {
  /// The time until a program that starts has all of its stores with their stored values.
  static let restoringIntoUse = Benchmark(name: "restoring into use") { harness in
    let isShort = harness.isShort
    let count = isShort ? 2_000 : 100_000
    let section = "\(count.grouped) stores restored into use"
    let place = try StoragePlace()
    let client = place.makeClient()
    var stores = (0..<count).map { client.store(for: NoteQuery(id: $0).persisted(as: "note")) }
    for (id, store) in stores.enumerated() { store.currentValue = Note(id: id, text: "note \(id)", isDone: false) }
    await client.persistence.flush()
    stores = []
    var (read, make) = (Double.infinity, Double.infinity)
    for _ in 0..<(isShort ? 1 : 3) {
      // As after a restart: nothing in memory is left, and the client keeps the stores.
      try await place.reopen()
      let later = place.makeClient(OperationClient(storeCache: KeepingCache()))
      let reading = try await microseconds { await later.restore() }
      let making = try await microseconds {
        for id in 0..<count { keep(later.store(for: NoteQuery(id: id).persisted(as: "note")).currentValue?.id ?? 0) }
      }
      precondition(later.store(for: NoteQuery(id: count - 1).persisted(as: "note")).currentValue?.id == count - 1)
      if reading + making < read + make { (read, make) = (reading, making) }
    }
    await place.close()
    let each = Double(count)
    return [
      .time(section, "read them ahead, each", read / each),
      .time(section, "make the stores, each", make / each),
      // Two seconds for all of them.
      .time(section, "both, each", (read + make) / each, bar: 20),
    ]
  }
}

/// Keeps all stores, as if each had a subscriber.
private struct KeepingCache: OperationClient.StoreCache {
  func storeDidBecomeIdle(_ store: OperationClient.IdleStore) {}
  func storeDidBecomeActive(_ id: OperationClient.IdleStore.ID) {}
}
