#if os(Linux)
  package import FoundationEssentials
  package import OperationPersistence

  /// A storage that writes the numbers of calls to a file when they are stored: from then on they must not be lost.
  package final class AcceptingStorage: PersistentStorage {
    private let base: any PersistentStorage
    private let accepted: LineFile
    private let numbers: @Sendable (Data) throws -> [Int]

    /// - Parameters:
    ///   - base: The storage that it calls.
    ///   - accepted: The file of the numbers.
    ///   - numbers: Reads the numbers of a call from its arguments, each time they are stored; by default that of a ``Line``.
    package init(
      _ base: any PersistentStorage,
      accepted: LineFile,
      numbers: @escaping @Sendable (Data) throws -> [Int] = { [try JSONDecoder().decode(Line.self, from: $0).number] }
    ) {
      self.base = base
      self.accepted = accepted
      self.numbers = numbers
    }

    nonisolated(nonsending) package func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      try await self.base.entries(withPrefix: prefix)
    }

    nonisolated(nonsending) package func apply(_ batch: [StorageChange]) async throws {
      _ = try await self.apply(batch, if: [])
    }

    nonisolated(nonsending) package func apply(
      _ batch: [StorageChange],
      if conditions: [StorageCondition]
    ) async throws -> StorageOutcome {
      let outcome = try await self.base.apply(batch, if: conditions)
      guard outcome == .made else { return outcome }
      for case .put(_, let value) in batch { try self.record(value) }
      return outcome
    }

    nonisolated(nonsending) package func close() async { await self.base.close() }

    private func record(_ value: [UInt8]) throws {
      struct Entry: Decodable {
        let arguments: String
      }
      let entry = try JSONDecoder().decode(Entry.self, from: Data(value))
      for number in try self.numbers(Data(entry.arguments.utf8)) { self.accepted.append("\(number)") }
    }
  }
#endif
