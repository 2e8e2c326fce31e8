import OperationCore
import OperationPersistence
import OperationTesting
import SubjectFixtures
import TestFixtures
import Testing

/// A sealed storage beside a dictionary, over random batches, restarts and changes of the key.
@Suite(.bounded, .warningsAreIssues) struct SealedModelTests {
  @Test(arguments: ModelRuns.seeds) func `A sealed storage has what a dictionary has`(seed: UInt64) async {
    await ModelRuns.check(10, seed: seed) { await Self.failure(of: &$0) }
  }

  private static let keys = [
    "value/sa/=x=", "value/sa/=y=", "value/sa/sb/=x=", "value/=x=", "journal/1-a", "journal/2-b", "journal/3-c", "a",
    "a/b",
  ]
  private static let prefixes = keys + ["", "value/", "value/sa/", "journal/", "value/s", "jour", "a/"]

  private static func failure(of generator: inout SeededGenerator) async -> String? {
    let base = InMemoryStorage()
    var model: [String: [UInt8]] = [:]
    var newest: UInt64 = 1
    var storage = Self.open(base, newest, &generator)
    for step in 0..<40 {
      do {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
          storage = Self.open(base, newest, &generator)
        case 1:
          newest += 1
          storage = Self.open(base, newest, &generator)
        case 2:
          try await storage.reseal()
        case 3:
          _ = try await storage.removeUnopened()
        case 4...6:
          var batch: [StorageChange] = []
          for _ in 0..<Int.random(in: 1...4, using: &generator) {
            let key = Self.keys.randomElement(using: &generator) ?? ""
            let value = Bool.random(using: &generator) ? [UInt8.random(in: 0...255, using: &generator)] : nil
            model[key] = value
            batch.append(value.map { .put(key: key, value: $0) } ?? .remove(key: key))
          }
          try await storage.apply(batch)
        default:
          let prefix = Self.prefixes.randomElement(using: &generator) ?? ""
          let found = try await storage.entries(withPrefix: prefix)
          let expected = model.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }
            .map { StorageEntry(key: $0.key, value: $0.value) }
          if found != expected { return "step \(step): \(prefix) has \(found), not \(expected)" }
        }
      } catch {
        return "step \(step): \(error)"
      }
    }
    return nil
  }

  private static func open(
    _ base: InMemoryStorage,
    _ newest: UInt64,
    _ generator: inout SeededGenerator
  ) -> SealedStorage {
    SealedStorage(
      base,
      key: TestKey(newest),
      previousKeys: (1..<newest).reversed().map { TestKey($0) },
      rewriting: Bool.random(using: &generator) ? .whenRead : .whenWritten
    )
  }
}
