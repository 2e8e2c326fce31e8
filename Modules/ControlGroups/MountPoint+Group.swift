#if os(Linux)
  extension MountPoint {
    /// Returns the mount that contains the group of its hierarchy, or the last mount if none does.
    ///
    /// A hierarchy may be mounted several times: a container has its own mount, and sometimes also the host's, whose
    /// root lies outside of the container's namespace. Of the mounts that contain the group, the one with the deepest
    /// root is chosen; of several equal ones the last, which covers the others.
    package static func containing(_ group: String, among mounts: [MountPoint]) -> MountPoint? {
      let names = GroupChain.names(in: group)
      var best: (mount: MountPoint, depth: Int)?
      for mount in mounts {
        let root = GroupChain.names(in: mount.root)
        guard names.starts(with: root), root.count >= best?.depth ?? 0 else { continue }
        best = (mount, root.count)
      }
      return best?.mount ?? mounts.last
    }
  }
#endif
