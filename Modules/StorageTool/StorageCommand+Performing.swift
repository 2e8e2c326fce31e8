#if SwiftOperationSQLite
  internal import OperationCore
  package import OperationFoundation
  internal import OperationPersistence
  internal import OperationSQLite

  extension StorageCommand {
    /// What a command prints, and the status with which the program exits.
    package struct Result: Hashable, Sendable {
      package var output = ""
      package var problem = ""
      package var status: Int32 = 0
    }

    /// Does what the command says.
    ///
    /// - Parameter now: The time from which ages are counted.
    /// - Returns: What to print. Problems of the file are in it; nothing is thrown.
    package func perform(now: Date) async -> Result {
      do {
        let inspection = try DatabaseInspection(path: self.path)
        switch self.action {
        case .list(let showsEntries):
          let listing = StorageListing(inspection, path: self.path, now: now)
          return Result(output: showsEntries ? listing.entries(showingValues: self.showsValues) : listing.names)
        case .check: return self.check(inspection)
        case .export: return Result(output: try StorageExport(showsValues: self.showsValues).text(of: inspection))
        case .repair: return try await self.repair(inspection)
        case .remove(let keys, let names): return try await self.remove(keys, names, from: inspection)
        }
      } catch {
        return Result(problem: "operation-storage: \((error as? StorageError)?.message ?? "\(error)")\n", status: 1)
      }
    }

    private func check(_ inspection: DatabaseInspection) -> Result {
      var lines = StorageListing.damage(of: inspection)
      let unreadable = inspection.entries.filter { !StoredEntryFacts($0).isReadable }
      for entry in unreadable { lines.append("\(entry.key) cannot be read by this version of the library") }
      if lines.isEmpty { return Result(output: "\(self.path) is sound: \(inspection.entries.count) entries\n") }
      let advice = inspection.damage == nil ? [] : ["operation-storage repair \(self.path) keeps all that can be read"]
      return Result(output: (lines + advice).map { $0 + "\n" }.joined(), status: 2)
    }

    private func repair(_ inspection: DatabaseInspection) async throws -> Result {
      if inspection.damage == nil { return Result(output: "\(self.path) is sound, and is left as it is\n") }
      let reports = Locked<[String]>([])
      let reporter: OperationWarning.Reporter = { warning in reports.withLock { $0.append(warning.message) } }
      let storage = try OperationWarning.withReporter(reporter) { try SQLiteStorage(path: self.path) }
      await storage.close()
      return Result(output: reports.withLock { $0 }.map { $0 + "\n" }.joined())
    }

    private func remove(
      _ keys: [String],
      _ names: [String],
      from inspection: DatabaseInspection
    ) async throws -> Result {
      if let damage = inspection.damage {
        throw StorageError(code: .damaged, message: "\(self.path) is damaged: \(damage). Repair it first.")
      }
      let found = inspection.entries.filter { entry in
        keys.contains(entry.key) || StoredEntryFacts(entry).name.map(names.contains) ?? false
      }
      if found.isEmpty {
        throw StorageError(code: .failed, message: "\(self.path) has no such entry, and is left as it is.")
      }
      let storage = try SQLiteStorage(path: self.path)
      do { try await storage.apply(found.map { .remove(key: $0.key) }) } catch {
        await storage.close()
        throw error
      }
      await storage.close()
      return Result(output: "removed \(found.count) of \(inspection.entries.count) entries\n")
    }
  }
#endif
