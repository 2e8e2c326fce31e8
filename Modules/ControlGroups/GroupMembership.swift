#if os(Linux)
  /// A line of `/proc/self/cgroup`: in which group of a hierarchy the process is.
  package struct GroupMembership: Hashable, Sendable {
    /// The controllers of the hierarchy; none for the unified one.
    package var controllers: [String]
    /// The group, from the root of the hierarchy as this process sees it.
    package var path: String
    package var isUnified: Bool

    /// The memberships of a `cgroup` file; lines that are none are left out.
    ///
    ///     4:memory:/user.slice
    ///     0::/user.slice/app.service
    package static func all(parsing text: String) -> [GroupMembership] {
      text.split(separator: "\n").compactMap { GroupMembership(parsing: $0) }
    }

    package init?(parsing line: Substring) {
      // The path may have colons of its own.
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, UInt64(decimal: fields[0].utf8) != nil, fields[2].hasPrefix("/") else { return nil }
      self.isUnified = fields[0] == "0" && fields[1].isEmpty
      self.controllers = fields[1].split(separator: ",").map { String($0) }
      let deleted = " (deleted)"
      self.path = String(fields[2].hasSuffix(deleted) ? fields[2].dropLast(deleted.count) : fields[2])
    }
  }
#endif
