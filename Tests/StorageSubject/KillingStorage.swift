#if SwiftOperationSQLite && os(Linux)
  import Foundation
  import Glibc
  import OperationPersistence
  import Synchronization

  /// A storage that kills the process at one of its calls.
  ///
  /// Each call counts twice: before it is made, and after it has been made and before it returns. In between, the
  /// number of a stored journal entry is written to a file: from then on its call must not be lost.
  final class KillingStorage: PersistentStorage {
    private let base: any PersistentStorage
    private let accepted: LineFile
    private let killAt: Int
    private let count = Atomic(0)

    init(_ base: any PersistentStorage, accepted: LineFile, killAt: Int) {
      self.base = base
      self.accepted = accepted
      self.killAt = killAt
    }

    var callCount: Int { self.count.load(ordering: .acquiring) }

    nonisolated(nonsending) func entries(withPrefix prefix: String) async throws -> [StorageEntry] {
      self.step()
      let entries = try await self.base.entries(withPrefix: prefix)
      self.step()
      return entries
    }

    nonisolated(nonsending) func apply(_ batch: [StorageChange]) async throws {
      self.step()
      try await self.base.apply(batch)
      for case .put(_, let value) in batch { try self.record(value) }
      self.step()
    }

    nonisolated(nonsending) func close() async { await self.base.close() }

    private func record(_ value: [UInt8]) throws {
      struct Entry: Decodable {
        let arguments: String
        let attempts: Int
      }
      let entry = try JSONDecoder().decode(Entry.self, from: Data(value))
      let arguments = Data(entry.arguments.utf8)
      let decoder = JSONDecoder()
      let first = try? decoder.decode(FirstNumbers.self, from: arguments).numbers
      if let numbers = first ?? (try? decoder.decode(SecondNumbers.self, from: arguments).list) {
        for number in numbers { self.accepted.append("\(number)") }
        return
      }
      guard entry.attempts == 1 else { return }
      self.accepted.append("\(try decoder.decode(Line.self, from: arguments).number)")
    }

    private func step() {
      let number = self.count.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
      if number == self.killAt { kill(getpid(), SIGKILL) }
    }
  }
#endif
