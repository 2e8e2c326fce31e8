#if os(Linux)
  /// The control group of this process in one hierarchy, and the groups that contain it.
  package struct GroupChain: Hashable, Sendable {
    /// The directories from the process's own group up to the mount point of the hierarchy.
    package var directories: [String]

    /// The process's own group.
    package var own: String { self.directories[0] }

    /// Creates the chain of a group, when the directory `root` of the hierarchy is mounted at `mountPath`.
    ///
    /// A group outside of the process's namespace or of the mount is not visible; the mount point is used instead.
    package init(group: String, root: String, mountPath: String, isDirectory: (String) -> Bool) {
      let mount = mountPath.count > 1 && mountPath.hasSuffix("/") ? String(mountPath.dropLast()) : mountPath
      var names = Self.names(in: group)
      let rootNames = Self.names(in: root)
      if names.starts(with: rootNames) { names.removeFirst(rootNames.count) } else { names = [] }
      if names.contains("..") { names = [] }
      let prefix = mount == "/" ? "" : mount
      let own = names.isEmpty ? mount : prefix + "/" + names.joined(separator: "/")
      if !names.isEmpty, !isDirectory(own) { names = [] }
      self.directories =
        (0..<names.count).reversed().map { prefix + "/" + names[...$0].joined(separator: "/") } + [mount]
    }

    /// Finds the groups of this process in the unified hierarchy.
    ///
    /// - Parameters:
    ///   - memberships: The groups of the process, one for each hierarchy.
    ///   - mounts: The mount points to search.
    ///   - path: The mount point of the hierarchy; nil to search for it.
    /// - Returns: The chain; nil if the process is in no such hierarchy, or none is mounted.
    package static func unified(
      _ memberships: [GroupMembership],
      _ mounts: [MountPoint],
      mountedAt path: String? = nil
    ) -> GroupChain? {
      guard let membership = memberships.first(where: \.isUnified) else { return nil }
      let mount = MountPoint.containing(membership.path, among: mounts.filter { $0.type == "cgroup2" })
      guard let mountPath = path ?? mount?.path else { return nil }
      let root = path == nil ? mount?.root ?? "/" : "/"
      return GroupChain(group: membership.path, root: root, mountPath: mountPath, isDirectory: FileText.isDirectory)
    }

    static func names(in path: String) -> [Substring] {
      path.split(separator: "/").filter { $0 != "." }
    }
  }
#endif
