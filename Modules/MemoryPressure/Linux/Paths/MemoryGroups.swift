#if os(Linux)
  internal import OperationControlGroups

  /// The control groups of this process that report on its memory.
  struct MemoryGroups: Hashable, Sendable {
    /// The group in the unified hierarchy. It has a pressure file even if it does not account for memory.
    var unified: GroupChain?
    /// Whether the unified hierarchy accounts for memory.
    var hasUnifiedMemory: Bool
    /// The group in the memory controller's own, older hierarchy.
    var legacy: GroupChain?

    init(paths: LinuxMemoryPaths) {
      self.init(
        memberships: GroupMembership.all(parsing: FileText.read(paths.procRoot + "/self/cgroup") ?? ""),
        mounts: MountPoint.all(parsing: FileText.read(paths.procRoot + "/self/mountinfo") ?? ""),
        cgroupRoot: paths.cgroupRoot
      )
    }

    init(memberships: [GroupMembership], mounts: [MountPoint], cgroupRoot: String?) {
      self.unified = GroupChain.unified(memberships, mounts, mountedAt: cgroupRoot)
      self.hasUnifiedMemory = self.unified.map { Self.hasMemory($0.own) } ?? false
      guard !self.hasUnifiedMemory, let membership = memberships.first(where: { $0.controllers.contains("memory") }),
        let mount = MountPoint.containing(
          membership.path,
          among: mounts.filter { $0.type == "cgroup" && $0.options.contains("memory") }
        )
      else { return }
      self.legacy = GroupChain(
        group: membership.path,
        root: mount.root,
        mountPath: mount.path,
        isDirectory: FileText.isDirectory
      )
    }

    private static func hasMemory(_ group: String) -> Bool {
      let controllers = FileText.read(group + "/cgroup.controllers") ?? ""
      return controllers.split(whereSeparator: \.isWhitespace).contains("memory")
        || FileText.exists(group + "/memory.events")
    }
  }
#endif
