#if os(Linux)
  /// The control group of this process in one hierarchy, and the groups around it.
  struct GroupChain: Hashable, Sendable {
    /// The directories from the process's own group out to where the hierarchy is mounted.
    var directories: [String]

    /// The process's own group.
    var own: String { self.directories[0] }

    /// The chain for a group, where `root` of the hierarchy is mounted at `mountPath`.
    ///
    /// A process sees no group that lies outside of its namespace or of what is mounted; what it sees instead is the mount.
    init(group: String, root: String, mountPath: String, isDirectory: (String) -> Bool) {
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

    private static func names(in path: String) -> [Substring] {
      path.split(separator: "/").filter { $0 != "." }
    }
  }
#endif
