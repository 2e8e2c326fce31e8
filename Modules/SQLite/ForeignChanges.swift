#if SwiftOperationSQLite
  /// Which entries other connections have changed, by the tallies of their prefixes: a tally changes with the entries, and
  /// the ones that the changes of this connection leave are known.
  ///
  /// So changes of others count only for the entries that they concern, and leases for none.
  struct ForeignChanges: Sendable {
    private struct Prefix: Sendable {
      var tally: Tally
      var number: Int64 = 0
      /// The version of the data, as SQLite counts the commits of other connections, at which the tally was read.
      var version: Int64
    }

    private var prefixes: [String: Prefix] = [:]

    /// The number of changes of a prefix; nil if its tally has to be read, because another connection has changed the file.
    func number(of prefix: String, asOf version: Int64) -> Int64? {
      self.prefixes[prefix].flatMap { $0.version == version ? $0.number : nil }
    }

    /// Notes the tally of a prefix that was read, and returns the number of changes.
    mutating func note(_ tally: Tally, of prefix: String, asOf version: Int64) -> Int64 {
      var known = self.prefixes[prefix] ?? Prefix(tally: tally, version: version)
      if known.tally != tally { known.number += 1 }
      known.tally = tally
      known.version = version
      self.prefixes[prefix] = known
      return known.number
    }

    /// Notes the tallies that a transaction of this connection has changed.
    mutating func note(_ changes: [TallyTable.Change]) {
      for change in changes {
        guard var known = self.prefixes[change.prefix] else { continue }
        // Another connection was there before.
        if known.tally != change.before { known.number += 1 }
        known.tally = change.after
        self.prefixes[change.prefix] = known
      }
    }
  }
#endif
