#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import GRDB
  import OperationCore
  import OperationPersistence
  import OperationTesting
  import TestFixtures
  import Testing

  @testable import OperationSQLite

  @Suite(.bounded) struct DamageTests {
    /// How many damages of each kind of file are tried; more with `SWIFT_OPERATION_DAMAGES`.
    private static let count = ProcessInfo.processInfo.environment["SWIFT_OPERATION_DAMAGES"].flatMap { Int($0) } ?? 8
    private static let seed =
      ProcessInfo.processInfo.environment["SWIFT_OPERATION_SEED"].flatMap { UInt64($0) } ?? 1

    @Test(arguments: [false, true])
    func `After any damage each entry is found, or reported`(isInLog: Bool) async throws {
      let sample = try await DamageSample(isInLog: isInLog)
      var random = SeededGenerator(seed: Self.seed &+ (isInLog ? 1_000_000 : 0))
      var results: [String: Int] = [:]
      for number in 0..<Self.count {
        let damage = Damage(of: sample.files, using: &random)
        let result = try await sample.check(damage, "\(number): \(damage)")
        results[result, default: 0] += 1
      }
      if Self.count > 8 { print("damages of seed \(Self.seed), in the log: \(isInLog):", results) }
      #expect(results["sound"] != Self.count)
    }

    @Test func `A flipped bit of a key in the table hides no entry`() async throws {
      let sample = try await DamageSample(isInLog: false)
      let file = try #require(sample.files["state.sqlite"])
      // The digits of a key of a call, wherever they are: in the table and in its index.
      let digits = Array("journal/00000000000000000042".utf8)
      let places = file.indices.dropLast(digits.count).filter { file[$0..<$0 + digits.count].elementsEqual(digits) }
      expect(places.count, equals: 2)
      for place in places {
        var damaged = file
        damaged[place + 20] ^= 4
        let folder = try Folder.inMemory()
        try folder.write(damaged)
        let (storage, warnings) = try openReporting(folder.file())
        expect(warnings.map(\.code), equals: [.storageDamaged])
        let entries = try await storage.entries(withPrefix: "")
        expect(Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0.value) }), equals: sample.model)
        await storage.close()
      }
    }
  }

  /// A generator that makes the same numbers in each run.
  struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed &* 0xD134_2543_DE82_EF95 }

    mutating func next() -> UInt64 {
      self.state &+= 0x9E37_79B9_7F4A_7C15
      var z = self.state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// The files of a database with entries like those of a journal and of values.
  private struct DamageSample {
    private(set) var files: [String: Data] = [:]
    private(set) var model: [String: [UInt8]] = [:]

    init(isInLog: Bool) async throws {
      let folder = try Folder.inMemory()
      var random = SeededGenerator(seed: 7)
      var storage = try SQLiteStorage(path: folder.file())
      for number in 0..<160 {
        if isInLog, number == 60 {
          await storage.close()
          storage = try SQLiteStorage(path: folder.file())
        }
        let id = UInt64.random(in: .min ... .max, using: &random)
        let digits = String(repeating: "0", count: 20 - "\(number)".count) + "\(number)"
        let isCall = number % 8 < 5
        let key = isCall ? "journal/\(digits)-\(id)" : "value/snotes/i\(number)/=note="
        let length = isCall ? 200 : number % 24 == 6 ? 9_000 : 500
        let value = Array("{\"id\":\"\(id)\",\"text\":\"\(String(repeating: "\(number) ", count: length / 4))\"}".utf8)
        try await storage.apply([.put(key: key, value: value)])
        self.model[key] = value
        // Some are replaced, and some removed.
        if number % 5 == 0 { try await storage.apply([.put(key: key + "x", value: value)]) }
        if number % 5 == 1 { try await storage.apply([.remove(key: self.key(before: number, isInLog) ?? "")]) }
      }
      for key in try await storage.keys() where key.hasSuffix("x") { try await storage.apply([.remove(key: key)]) }
      if !isInLog { await storage.close() }
      for name in try folder.files { self.files[name] = try folder.read(name) }
      if isInLog { await storage.close() }
    }

    private func key(before number: Int, _ isInLog: Bool) -> String? {
      self.model.keys.first { $0.hasSuffix("i\(number - 1)/=note=") }.map { $0 + "x" }
    }

    /// Opens a damaged copy, and compares what is found and what is reported with the model.
    func check(_ damage: Damage, _ comment: Comment) async throws -> String {
      let folder = try Folder.inMemory()
      for (name, data) in self.files {
        try folder.write(name == damage.file ? damage.applied(to: data) : data, to: name)
      }
      let storage: SQLiteStorage
      let warnings: [OperationWarning]
      do { (storage, warnings) = try openReporting(folder.file()) } catch {
        // The number of the version itself has changed.
        expect((error as? StorageError)?.code, equals: .newerSchema, "\(comment): \(error)")
        return "refused"
      }
      let entries = try await storage.entries(withPrefix: "")
      var missing = Set(self.model.keys)
      var damagedCount = 0
      // Entries that are kept as damaged under a key that is damaged itself.
      var renamedCount = 0
      for entry in entries {
        missing.remove(entry.key)
        if entry.value == self.model[entry.key] { continue }
        damagedCount += 1
        if self.model[entry.key] == nil, entry.value.first == 0 { renamedCount += 1 }
        // What was removed may come back if a part of the log is missing.
        if self.files.count > 1, entry.key.hasSuffix("x"), !warnings.isEmpty { continue }
        expect(entry.value.first, equals: 0, "\(comment): \(entry.key) has other bytes")
      }
      let text = warnings.map(\.message).joined()
      if missing.count > renamedCount {
        let isReported = text.contains("missing") || text.contains("How many")
        #expect(isReported, "\(comment): \(missing.count) are lost silently")
      }
      if damagedCount > 0 { #expect(!warnings.isEmpty, comment) }
      // The file can be used, and is sound from now on.
      try await storage.put("journal/new", "new")
      await storage.close()
      let (again, later) = try openReporting(folder.file())
      #expect(later.isEmpty, comment)
      try await expect(again.keys().count, equals: entries.count + 1, comment)
      await again.close()
      return warnings.isEmpty
        ? "sound" : missing.isEmpty ? damagedCount == 0 ? "all found" : "all found or marked" : "missing and reported"
    }
  }

  /// Opens a storage, and returns what it reports.
  func openReporting(_ path: String) throws -> (SQLiteStorage, [OperationWarning]) {
    let warnings = Locked<[OperationWarning]>([])
    let reporter: OperationWarning.Reporter = { warning in warnings.withLock { $0.append(warning) } }
    let storage = try OperationWarning.withReporter(reporter) { try SQLiteStorage(path: path) }
    return (storage, warnings.withLock { $0 })
  }
#endif
