#if SwiftOperationDevtools
  internal import OperationCore

  /// The rows of the stores that a feed knows, by path and by id.
  struct StoreIndex {
    private struct Entry {
      let id: Int
      var row: StoreRow
      var text: String
    }

    private var entries: [OperationPath: Entry] = [:]
    private var pathsByID: [Int: OperationPath] = [:]
    private var lastID = 0
    /// The ids in the order in which stores are read again, because their values age.
    private var round: [Int] = []

    var texts: [String] { self.entries.values.map(\.text) }

    var paths: [OperationPath] { Array(self.entries.keys) }

    var ids: [Int] { self.pathsByID.keys.sorted() }

    func id(at path: OperationPath) -> Int? { self.entries[path]?.id }

    func path(of id: Int) -> OperationPath? { self.pathsByID[id] }

    /// Reads a store.
    ///
    /// - Parameter store: The store.
    /// - Returns: Its row as JSON; nil if it is as it was.
    @discardableResult
    mutating func read(_ store: OpaqueOperationStore) -> String? {
      let path = store.path
      let known = self.entries[path]
      if known == nil { self.lastID += 1 }
      let row = StoreRow(store.inspect(), id: known?.id ?? self.lastID, path: known?.row.path)
      if row == known?.row { return nil }
      let text = row.json
      self.entries[path] = Entry(id: row.id, row: row, text: text)
      self.pathsByID[row.id] = path
      return text
    }

    /// Forgets the store at a path.
    @discardableResult
    mutating func remove(_ path: OperationPath) -> Int? {
      guard let entry = self.entries.removeValue(forKey: path) else { return nil }
      self.pathsByID[entry.id] = nil
      return entry.id
    }

    /// The paths that are read again next, so that in the end all are.
    mutating func nextPaths(_ count: Int) -> [OperationPath] {
      if self.round.isEmpty { self.round = Array(self.pathsByID.keys) }
      let ids = self.round.suffix(count)
      self.round.removeLast(ids.count)
      return ids.compactMap { self.pathsByID[$0] }
    }
  }
#endif
