#if os(Linux)
  /// A line of `/proc/self/cgroup`: the group of the process in one hierarchy.
  package struct GroupMembership: Hashable, Sendable {
    /// The controllers of the hierarchy; empty for the unified one.
    package var controllers: [String]
    /// The path of the group from the root of the hierarchy that this process sees.
    package var path: String
    package var isUnified: Bool

    /// Parses a `cgroup` file; invalid lines are skipped.
    ///
    ///     4:memory:/user.slice
    ///     0::/user.slice/app.service
    package static func all(parsing text: String) -> [GroupMembership] {
      text.split(separator: "\n").compactMap { GroupMembership(parsing: $0) }
    }

    package init?(parsing line: Substring) {
      // The path may contain colons.
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, UInt64(decimal: fields[0].utf8) != nil, fields[2].hasPrefix("/") else { return nil }
      self.isUnified = fields[0] == "0" && fields[1].isEmpty
      self.controllers = fields[1].split(separator: ",").map { String($0) }
      let deleted = " (deleted)"
      self.path = String(fields[2].hasSuffix(deleted) ? fields[2].dropLast(deleted.count) : fields[2])
    }
  }
#endif
