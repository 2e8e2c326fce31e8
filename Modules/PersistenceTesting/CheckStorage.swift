public import OperationPersistence
internal import OperationTesting
public import Testing

/// Checks that a storage follows the rules that stores and journals rely on; each broken rule is an issue of the test.
///
/// ```swift
/// @Test func keepsTheRules() async throws {
///   try await checkStorage(reopening: { try FileStorage(path: $0.path) }, { try FileStorage(path: newPath()) })
/// }
/// ```
///
/// ``StorageRule`` lists the rules: bytes come back as they were put (`values`) under their own keys (`keys`),
/// the newest value wins (`replacement`), and a removed entry is gone (`removal`); entries are found by their prefix
/// (`prefix`), in order (`order`), with their sizes (`sizes`), as soon as their batch has returned (`visibility`) and
/// never a part of a batch (`atomicity`), also when many tasks write (`concurrency`); they are there after the storage
/// is opened again (`reopening`); a batch may be empty (`emptyBatch`), and failures are thrown (`failure`, `splitting`,
/// `closing`). A batch with conditions is applied if they hold (`conditions`). In a
/// storage with leases, one owner at a time holds a lease (`leases`).
///
/// - Parameters:
///   - rules: The rules to check.
///   - exceptions: Rules that the storage breaks on purpose.
///   - limit: The longest time for the check of a rule; nil for a minute, unless `.waitLimit(_:)` is set.
///   - sourceLocation: Where issues are reported.
///   - reopen: Opens a closed storage again; with nil, the rule ``StorageRule/reopening`` is not checked.
///   - obstruct: Makes the storage unable to write from now on, but leaves it readable; with nil, the rule
///     ``StorageRule/failure`` is not checked.
///   - refuse: Makes the storage refuse each batch that puts an entry with this key from now on; with nil, the rule
///     ``StorageRule/splitting`` is not checked.
///   - pass: Returns when the clock by which leases end has advanced by the duration; nil for the system's clocks.
///   - make: Makes a storage without entries. Called once for each rule.
/// - Throws: `CancellationError` when the task is cancelled, and the errors of the closures.
public func checkStorage<Storage: PersistentStorage>(
  _ rules: some Sequence<StorageRule> = StorageRule.allCases,
  except exceptions: Set<StorageRule> = [],
  within limit: Duration? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  reopening reopen: (@Sendable (Storage) async throws -> Storage)? = nil,
  obstructing obstruct: (@Sendable (Storage) async throws -> Void)? = nil,
  refusing refuse: (@Sendable (Storage, _ key: String) async throws -> Void)? = nil,
  passing pass: (@Sendable (Storage, Duration) async throws -> Void)? = nil,
  _ make: () async throws -> Storage
) async throws {
  for rule in rules where !exceptions.contains(rule) {
    let storage = try await make()
    let report = RuleReport("storage", rule: rule, within: limit, orWithin: .seconds(60), at: sourceLocation)
    let check = StorageCheck(
      storage: storage,
      reopen: reopen,
      obstruct: obstruct,
      refuse: refuse,
      pass: pass ?? { try await Task.sleep(for: $1, clock: .continuous) },
      report: report
    )
    try await report.perform {
      let result = try await outcome(of: "the storage to answer", within: report.limit) {
        try await check.perform(rule)
      }
      switch result {
      case .success(let findings): for finding in findings { report.expect(false, finding) }
      case .failure(let error as CancellationError): throw error
      case .failure(let error): report.expect(false, "it threw \(error). Throw only what keeps it from working.")
      }
    }
    // The check may have left the storage open.
    await storage.close()
  }
}

/// The check of one rule. Each method returns what is wrong, with the remedy.
struct StorageCheck<Storage: PersistentStorage>: Sendable {
  let storage: Storage
  let reopen: (@Sendable (Storage) async throws -> Storage)?
  let obstruct: (@Sendable (Storage) async throws -> Void)?
  let refuse: (@Sendable (Storage, String) async throws -> Void)?
  let pass: @Sendable (Storage, Duration) async throws -> Void
  let report: RuleReport

  func perform(_ rule: StorageRule) async throws -> [String] {
    switch rule {
    case .values: try await self.checkValues()
    case .keys: try await self.checkKeys()
    case .replacement: try await self.checkReplacement()
    case .removal: try await self.checkRemoval()
    case .prefix: try await self.checkPrefix()
    case .order: try await self.checkOrder()
    case .sizes: try await self.checkSizes()
    case .visibility: try await self.checkVisibility()
    case .emptyBatch: try await self.checkEmptyBatch()
    case .atomicity: try await self.checkAtomicity()
    case .concurrency: try await self.checkConcurrency()
    case .reopening: try await self.checkReopening()
    case .failure: try await self.checkFailure()
    case .splitting: try await self.checkSplitting()
    case .conditions: try await self.checkConditions()
    case .leases: try await self.checkLeases()
    case .closing: await self.checkClosing()
    }
  }

  func put(_ key: String, _ value: [UInt8] = [1]) async throws {
    try await self.storage.apply([.put(key: key, value: value)])
  }

  /// The bytes of an entry; nil if there is none.
  func value(_ key: String) async throws -> [UInt8]? {
    try await self.storage.entries(withPrefix: key).first { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  func keys(_ prefix: String = "") async throws -> [String] {
    try await self.storage.entries(withPrefix: prefix).map(\.key)
  }

  /// Compares the keys with the expected ones, and returns what is wrong.
  func finding(
    _ moment: String,
    _ prefix: String = "",
    expected: [String],
    _ remedy: String
  ) async throws -> [String] {
    let keys = try await self.keys(prefix)
    let isKept = keys.count == expected.count && zip(keys, expected).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    return isKept ? [] : ["\(moment) the keys were \(keys), not \(expected). \(remedy)"]
  }
}

extension [UInt8]? {
  /// The bytes for a message, shortened because there may be a million.
  var text: String {
    guard let self else { return "no entry" }
    return self.count <= 8 ? "\(self)" : "\(self.count) bytes"
  }
}
